// Small data for the tests, and a font in which every letter is half as wide as it is high.

import assert from "node:assert/strict";
import { BeamTree } from "../../viz/browser/beam_tree/view.ts";

/** @import { MapData } from "../../viz/browser/attention_map/plan.ts" */
/** @import { Part } from "../../viz/browser/head_grid/plan.ts" */
/** @import { Mark, Place } from "../../viz/browser/core/scene.ts" */
/** @import { MaskGrid } from "../../viz/browser/mask_grids.ts" */
/** @import { RibbonData } from "../../viz/browser/ribbons.ts" */
/** @import { StripData } from "../../viz/browser/tensor_strip.ts" */

/** @type {import("../../viz/browser/core/theme.ts").Measure} */
export const measure = (text, size) => text.length * size * 0.5;

/** @type {import("../../viz/browser/core/theme.ts").Theme} */
export const theme = {
  name: "light", paper: "#ffffff", ink: "#000000", line: "#cccccc", quiet: "rgb(80,80,80)",
  font: "sans-serif",
};

/** Entry n is (n, n, n) in light and (255 - n, 0, 0) in dark. */
export const palette = {
  light: Uint8Array.from({ length: 768 }, (_, n) => Math.floor(n / 3)),
  dark: Uint8Array.from({ length: 768 }, (_, n) => (n % 3 ? 0 : 255 - n / 3)),
};

/** A view without a page: its methods with these fields.
 * @template T @param {new () => T} Component @param {any} fields @returns {T} */
export const viewOf = (Component, fields) =>
  Object.assign(Object.create(Component.prototype), fields);

/** The marks of one type, those in groups too.
 * @template {Mark["type"]} T @param {Mark[]} marks @param {T} type
 * @returns {Extract<Mark, {type: T}>[]} */
export const only = (marks, type) => /** @type {any} */ (marks.flatMap((mark) =>
  (mark.type === type ? [mark] : mark.type === "group" ? only(mark.marks, type) : [])));

/** A text without the marks that isolate its direction. @param {string} text */
export const plain = (text) => text.replace(/[\u2068\u2069]/g, "");

/** The texts of marks. @param {Mark[]} marks */
export const textsOf = (marks) => only(marks, "text").map(({ text }) => plain(text));

/** Hold that places lie on a picture and none over another.
 * @param {Place[]} places @param {Pick<Place, "width" | "height">} picture
 * @param {string} message */
export function assertApart(places, picture, message) {
  places.forEach(({ x, y, width, height }, n) => {
    assert.ok(x >= 0 && y >= 0 && y + height <= picture.height, message);
    assert.ok(x + width <= picture.width + 0.01, message);
    for (const other of places.slice(n + 1)) {
      assert.ok(x >= other.x + other.width - 0.01 || other.x >= x + width - 0.01
        || y >= other.y + other.height - 0.01 || other.y >= y + height - 0.01, message);
    }
  });
}

/** @param {string} letter @param {number} count */
export const words = (letter, count) => Array.from({ length: count }, (_, n) => letter + n);

/**
 * @param {number} queries
 * @param {number} keys
 * @param {Partial<MapData>} [more]
 * @returns {MapData}
 */
export const mapData = (queries, keys, more = {}) => ({
  kind: "cross", causal: false, title: "L1 H1", rows: "rows", columns: "columns", note: "",
  rowNames: null, both: null,
  queries: words("q", queries), keys: words("k", keys), scale: "linear", threshold: 0,
  signed: false, tallBars: false, weights: new Float32Array(queries * keys), palette, ...more,
});

/**
 * @param {number} heads
 * @param {number} queries
 * @param {number} keys
 * @param {Partial<RibbonData>} [more]
 * @returns {RibbonData}
 */
export const ribbonData = (heads, queries, keys, more = {}) => ({
  kind: "cross", heads: words("H", heads), rows: "rows", columns: "columns", note: "", from: 0.01,
  colors: { light: words("#l", heads), dark: words("#d", heads) }, rowNames: null,
  queries: words("q", queries), keys: words("k", keys),
  weights: new Float32Array(heads * queries * keys).fill(0.5), ...more,
});

/**
 * @param {string} kind
 * @param {number} layers
 * @param {number} heads
 * @param {number} rows
 * @param {number} columns
 * @param {Partial<Part>} [more]
 * @returns {Part}
 */
export const gridPart = (kind, layers, heads, rows, columns, more = {}) => ({
  kind, name: kind, causal: false, color: "#123456", layers, heads,
  counts: Array(layers).fill(heads),
  rows, columns, block: [1, 1], last: null,
  queries: words("q", rows), keys: words("k", columns),
  roles: Array.from({ length: layers }, () => Array(heads).fill("")),
  values: Array.from({ length: layers }, () => Array(heads).fill("")),
  strongest: Array.from({ length: layers }, () => Array(heads).fill([0, 0, 1])),
  palette, weights: new Uint8Array(layers * heads * rows * columns), ...more,
});

/**
 * @param {number} queries
 * @param {number} keys
 * @param {Partial<MaskGrid>} [more]
 * @returns {MaskGrid}
 */
export const maskGrid = (queries, keys, more = {}) => ({
  title: "Sentence 1", queries: words("q", queries), keys: words("k", keys),
  names: words("The row of q", queries), faded: Array(queries).fill(false),
  codes: new Uint8Array(queries * keys), ...more,
});

/**
 * The boxes of Figure 1: maps in those of attention, nothing in those of tokens, else a strip.
 * @param {string[]} names
 * @param {{heads?: number}} [sizes]
 * @returns {import("../../viz/browser/architecture/plan.ts").ModelData}
 */
export const modelData = (names, { heads = 8 } = {}) => ({
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

/** Three keys, d_k 4, d_v 5, three heads, d_model 6, and every number 0.
 * @returns {import("../../viz/browser/inside_head/plan.ts").InsideData} */
export function insideData() {
  const shapes = {
    x: [6], q: [4], k: [3, 4], v: [3, 5], products: [3, 4], dots: [3], scaled: [3], seen: [3],
    weights: [3], weighted: [3, 5], z: [5], concat: [3, 5], norms: [3], result: [6], others: [6],
    added: [6], normalised: [6],
  };
  const arrays = /** @type {any} */ (Object.fromEntries(Object.entries(shapes).map(
    ([name, shape]) => [name, new Float32Array(shape.reduce((a, b) => a * b, 1))])));
  return {
    title: "L1 H2 · cross", query: "q0", keys: words("k", 3), kind: "cross", color: "#123456",
    head: 1,
    factor: "÷ √dₖ", step: 0, steps: [], arrays, shapes, ends: {}, palette,
  };
}

/**
 * @param {number} rows
 * @param {number} columns
 * @param {Partial<StripData>} [more]
 * @returns {StripData}
 */
export const stripData = (rows, columns, more = {}) => ({
  title: "Sum", rows: words("t", rows), columns, columnNames: null, end: 1,
  values: new Float32Array(rows * columns), palette, ...more,
});

/**
 * @param {number} source how many words
 * @param {number} target
 * @param {number[][]} links source, target, strength, and 1 where it holds one way only
 * @returns {import("../../viz/browser/word_links/plan.ts").LinkData}
 */
export const linkData = (source, target, links) => ({
  title: "Which words this head links", madeBy: "", note: "", color: "#d55e00",
  source: words("s", source), target: words("t", target), languages: ["French", "Finnish"],
  links: links.map(([from, to, strength, oneWay]) =>
    ({ source: from, target: to, strength, mutual: !oneWay })),
  shares: null,
});

/**
 * A tree from rows of parent, text, log P of the piece, state and score.
 * @param {any[][]} rows
 * @param {Partial<Record<"best" | "chosen", number | null>>} [more]
 * @returns {import("../../viz/browser/beam_tree/plan.ts").TreeData}
 */
export function treeData(rows, more = {}) {
  /** @type {any[]} */
  const nodes = [];
  for (const [parent, text, logProb, state = "kept", score = null] of rows) {
    const { total = 0, step = 0 } = nodes[parent] ?? {};
    nodes.push({
      parent, text, label: text.replace("▁", ""), logProb, total: total + logProb, step: step + 1,
      state, reason: state === "dropped" ? "It is bad." : "", score,
    });
  }
  return BeamTree.read({
    title: "Beam tree", note: "", best: 0, chosen: null, language: "Finnish", nodes, ...more,
  });
}

/** @typedef {{dtype: string, shape: number[], bytes: number[]}} Entry */
/** The form of the wire once more, written from its description.
 * @param {any} message @param {Entry[]} arrays @param {number} [version] */
export function encoded(message, arrays, version = 2) {
  const entries = arrays.map(({ dtype, shape }) => ({ dtype, shape }));
  const text = new TextEncoder().encode(JSON.stringify({ message, arrays: entries }));
  const padded = (/** @type {ArrayLike<number>} */ bytes) =>
    [...Array.from(bytes), ...Array(-bytes.length & 7).fill(0)];
  const start = new Uint8Array(Uint32Array.of(version, text.length).buffer);
  return Uint8Array.from([...padded([...start, ...text]), ...arrays.flatMap(({ bytes }) =>
    padded(bytes))]);
}
