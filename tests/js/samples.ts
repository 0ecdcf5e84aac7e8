// Small data for the tests, and a font in which every letter is half as wide as it is high.

import assert from "node:assert/strict";
import type { ModelData } from "../../viz/browser/architecture/plan.ts";
import type { MapData } from "../../viz/browser/attention_map/plan.ts";
import type { TreeData } from "../../viz/browser/beam_tree/plan.ts";
import { BeamTree } from "../../viz/browser/beam_tree/view.ts";
import type { Mark, Place } from "../../viz/browser/core/scene.ts";
import type { Measure, Theme } from "../../viz/browser/core/theme.ts";
import type { Part } from "../../viz/browser/head_grid/plan.ts";
import type { InsideData } from "../../viz/browser/inside_head/plan.ts";
import type { MaskGrid } from "../../viz/browser/mask_grids.ts";
import type { RibbonData } from "../../viz/browser/ribbons.ts";
import type { StripData } from "../../viz/browser/tensor_strip.ts";
import type { LinkData } from "../../viz/browser/word_links/plan.ts";

export const measure: Measure = (text, size) => text.length * size * 0.5;

export const theme: Theme = {
  name: "light", paper: "#ffffff", ink: "#000000", line: "#cccccc", quiet: "rgb(80,80,80)",
  font: "sans-serif",
};

/** Entry n is (n, n, n) in light and (255 - n, 0, 0) in dark. */
export const palette = {
  light: Uint8Array.from({ length: 768 }, (_, n) => Math.floor(n / 3)),
  dark: Uint8Array.from({ length: 768 }, (_, n) => (n % 3 ? 0 : 255 - n / 3)),
};

/** A view without a page: its methods with these fields. */
export const viewOf = <T>(Component: new () => T, fields: any): T =>
  Object.assign(Object.create(Component.prototype), fields);

/** The marks of one type, those in groups too. */
export const only = <T extends Mark["type"]>(marks: Mark[], type: T) =>
  marks.flatMap((mark): Mark[] => (mark.type === type ? [mark]
    : mark.type === "group" ? only(mark.marks, type) : [])) as Extract<Mark, { type: T }>[];

/** A text without the marks that isolate its direction. */
export const plain = (text: string) => text.replace(/[\u2068\u2069]/g, "");

export const textsOf = (marks: Mark[]) => only(marks, "text").map(({ text }) => plain(text));

/** Hold that places lie on a picture and none over another. */
export function assertApart(
  places: Place[], picture: Pick<Place, "width" | "height">, message: string,
) {
  places.forEach(({ x, y, width, height }, n) => {
    assert.ok(x >= 0 && y >= 0 && y + height <= picture.height, message);
    assert.ok(x + width <= picture.width + 0.01, message);
    for (const other of places.slice(n + 1)) {
      assert.ok(x >= other.x + other.width - 0.01 || other.x >= x + width - 0.01
        || y >= other.y + other.height - 0.01 || other.y >= y + height - 0.01, message);
    }
  });
}

export const words = (letter: string, count: number) =>
  Array.from({ length: count }, (_, n) => letter + n);

export const mapData = (queries: number, keys: number, more: Partial<MapData> = {}): MapData => ({
  kind: "cross", causal: false, title: "L1 H1", rows: "rows", columns: "columns", note: "",
  rowNames: null, both: null,
  queries: words("q", queries), keys: words("k", keys), scale: "linear", threshold: 0,
  signed: false, tallBars: false, weights: new Float32Array(queries * keys), palette, ...more,
});

export const ribbonData = (
  heads: number, queries: number, keys: number, more: Partial<RibbonData> = {},
): RibbonData => ({
  kind: "cross", title: "cross-attention", heads: words("H", heads), rows: "rows",
  columns: "columns", note: "", from: 0.01,
  colors: { light: words("#l", heads), dark: words("#d", heads) }, rowNames: null,
  queries: words("q", queries), keys: words("k", keys),
  weights: new Float32Array(heads * queries * keys).fill(0.5), ...more,
});

export const gridPart = (
  kind: string, layers: number, heads: number, rows: number, columns: number,
  more: Partial<Part> = {},
): Part => ({
  kind, name: kind, causal: false, color: "#123456", layers, heads,
  counts: Array(layers).fill(heads),
  rows, columns, block: [1, 1], last: null,
  queries: words("q", rows), keys: words("k", columns),
  roles: Array.from({ length: layers }, () => Array(heads).fill("")),
  values: Array.from({ length: layers }, () => Array(heads).fill("")),
  strongest: Array.from({ length: layers }, () => Array(heads).fill([0, 0, 1])),
  palette, weights: new Uint8Array(layers * heads * rows * columns), ...more,
});

export const maskGrid = (
  queries: number, keys: number, more: Partial<MaskGrid> = {},
): MaskGrid => ({
  title: "Sentence 1", queries: words("q", queries), keys: words("k", keys),
  names: words("The row of q", queries), faded: Array(queries).fill(false),
  codes: new Uint8Array(queries * keys), ...more,
});

/** The boxes of Figure 1: maps in those of attention, nothing in those of tokens, else a strip. */
export const modelData = (names: string[], { heads = 8 } = {}): ModelData => ({
  layers: { encoder: 3, decoder: 3 }, layer: { encoder: 1, decoder: 1 },
  selected: names[0], memoryColor: "#d55e00", playing: null,
  boxes: names.map((name) => {
    const kind = name.endsWith("attention") ? "cross" : null;
    const maps = kind ? heads : name.endsWith("tokens") ? 0 : 1;
    return {
      name, title: "Attention", shape: "20 × 512", label: name, kind,
      color: kind && "#d55e00", maps, rows: 2, columns: kind ? 3 : 512,
      values: new Uint8Array(maps * 2 * 512), paper: "§3.1",
      sentences: Array(name.startsWith("encoder") ? 1 : 3).fill(`${name} works.`),
    };
  }),
  palettes: {
    difference: palette, encoder_self: palette, decoder_self: palette, cross: palette,
  },
});

/** Three keys, d_k 4, d_v 5, three heads, d_model 6, and every number 0. */
export function insideData(): InsideData {
  const shapes = {
    x: [6], q: [4], k: [3, 4], v: [3, 5], products: [3, 4], dots: [3], scaled: [3], seen: [3],
    weights: [3], weighted: [3, 5], z: [5], concat: [3, 5], norms: [3], result: [6], others: [6],
    added: [6], normalised: [6],
  };
  const arrays: any = Object.fromEntries(Object.entries(shapes).map(([name, shape]) =>
    [name, new Float32Array(shape.reduce((a, b) => a * b, 1))]));
  return {
    title: "L1 H2 · cross", query: "q0", keys: words("k", 3), kind: "cross", color: "#123456",
    head: 1,
    factor: "÷ √dₖ", step: 0, plays: false, steps: [], arrays, shapes, ends: {}, palette,
  };
}

export const stripData = (
  rows: number, columns: number, more: Partial<StripData> = {},
): StripData => ({
  title: "Sum", rows: words("t", rows), columns, columnNames: null, end: 1,
  values: new Float32Array(rows * columns), palette, ...more,
});

/** @param links source, target, strength, and 1 where it holds one way only */
export const linkData = (source: number, target: number, links: number[][]): LinkData => ({
  title: "Which words this head links", madeBy: "", note: "", color: "#d55e00",
  source: words("s", source), target: words("t", target), languages: ["French", "Finnish"],
  links: links.map(([from, to, strength, oneWay]) =>
    ({ source: from, target: to, strength, mutual: !oneWay })),
  shares: null,
});

/** A tree from rows of parent, text, log P of the piece, state and score. */
export function treeData(
  rows: any[][], more: Partial<Record<"best" | "chosen", number | null>> = {},
): TreeData {
  const nodes: any[] = [];
  for (const [parent, text, logProb, state = "kept", score = null] of rows) {
    const { total = 0, step = 0 } = nodes[parent] ?? {};
    nodes.push({
      parent, text, label: text.replace("▁", ""), log_prob: logProb, total: total + logProb,
      step: step + 1, state, reason: state === "dropped" ? "It is bad." : "", score,
    });
  }
  return BeamTree.read({
    title: "Beam tree", note: "", best: 0, chosen: null, language: "Finnish", nodes, ...more,
  });
}

interface Entry { dtype: string; shape: number[]; bytes: number[] }

/** The form of the wire once more, written from its description. */
export function encoded(message: any, arrays: Entry[], version = 2) {
  const entries = arrays.map(({ dtype, shape }) => ({ dtype, shape }));
  const text = new TextEncoder().encode(JSON.stringify({ message, arrays: entries }));
  const padded = (bytes: number[]) => [...bytes, ...Array(-bytes.length & 7).fill(0)];
  const start = new Uint8Array(Uint32Array.of(version, text.length).buffer);
  return Uint8Array.from([...padded([...start, ...text]), ...arrays.flatMap(({ bytes }) =>
    padded(bytes))]);
}
