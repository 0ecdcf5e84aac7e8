// The picture of each component in both themes as SVG, compared with the files in snapshots/.
// `npm run snapshots` writes them anew: look at the difference before you commit it.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { planModel } from "../../viz/browser/architecture/plan.ts";
import { modelMarks } from "../../viz/browser/architecture/view.ts";
import { averageRow, originOf, planMap } from "../../viz/browser/attention_map/plan.ts";
import { mapMarks, mapRaster } from "../../viz/browser/attention_map/view.ts";
import { planTree } from "../../viz/browser/beam_tree/plan.ts";
import { treeMarks } from "../../viz/browser/beam_tree/view.ts";
import { group, rect } from "../../viz/browser/core/scene.ts";
import { svgOf } from "../../viz/browser/core/svg.ts";
import { planGrid } from "../../viz/browser/head_grid/plan.ts";
import { gridMarks } from "../../viz/browser/head_grid/view.ts";
import { planInside } from "../../viz/browser/inside_head/plan.ts";
import { insideMarks } from "../../viz/browser/inside_head/view.ts";
import {
  extent, gridMarks as maskSquares, maskMarks, planMasks,
} from "../../viz/browser/mask_grids.ts";
import { barMarks as nextMarks, stageMarks, tileMarks } from "../../viz/browser/player/marks.ts";
import { planPlayer, planTiles } from "../../viz/browser/player/plan.ts";
import { curveMarks, planRibbons, ribbonMarks, ribbonsOf } from "../../viz/browser/ribbons.ts";
import { barMarks, planBars } from "../../viz/browser/step_bars.ts";
import { COMPONENTS } from "../../viz/browser/streamlit.ts";
import { planStrip, stripMarks } from "../../viz/browser/tensor_strip.ts";
import { editorMarks } from "../../viz/browser/translation_editor/view.ts";
import { wordsOf } from "../../viz/browser/translation_editor/words.ts";
import { planLinks } from "../../viz/browser/word_links/plan.ts";
import { linkMarks } from "../../viz/browser/word_links/view.ts";
import {
  gridPart, insideData, linkData, mapData, maskGrid, measure, modelData, palette, ribbonData,
  stripData, theme, treeData, words,
} from "./samples.ts";
import type { Mark } from "../../viz/browser/core/scene.ts";
import type { Theme } from "../../viz/browser/core/theme.ts";

interface Size { width: number; height: number }
type Picture = Size & { marks: Mark[] };

const FOLDER = new URL("snapshots/", import.meta.url);
const RENEW = process.argv.includes("--renew");

const THEMES: Theme[] = [theme, {
  ...theme, name: "dark", paper: "#131415", ink: "#ffffff", line: "#444444",
  quiet: "rgb(170,170,170)",
}];

/** Numbers from 0 to 1 in no order. */
const numbers = (count: number) =>
  Float32Array.from({ length: count }, (_, n) => ((37 * n + 11) % 97) / 96);

const whole = ({ width, height }: Size) => ({ x: 0, y: 0, width, height });

/** Each component by its folder. */
const PICTURES: Record<string, (theme: Theme) => Picture> = {
  architecture: (colors) => {
    const file = readFileSync(new URL("boxes.json", import.meta.url), "utf8");
    const names: string[] = JSON.parse(file);
    const shown = names.filter((name) => /^encoder|cross_attention$/.test(name));
    const data = modelData(shown, { heads: 2 });
    const plan = planModel(data.boxes, 700, 900, measure);
    return { ...plan, marks: modelMarks({ data, plan, theme: colors, ratio: 1 }) };
  },
  attention_map: (colors) => {
    const data = mapData(4, 5, {
      causal: true, weights: numbers(20), threshold: 0.1,
      both: { titles: ["reads", "writes"], reads: words("r", 4), writes: words("w", 4) },
    });
    const plan = planMap(data, 400, 400, measure);
    const marks = mapMarks({
      data, plan, theme: colors, measure, raster: mapRaster(data, data.palette[colors.name]),
      average: averageRow(data), at: { row: 2, key: 3 }, pinned: 1,
      origin: originOf(plan, whole(plan)), width: plan.width, height: plan.height,
    });
    return { ...plan, marks };
  },
  beam_tree: (colors) => {
    const data = treeData([
      [-1, "▁Zwei", -0.1], [-1, "▁Ein", -1, "dropped"], [0, "▁schwarze", -0.2, "forced"],
      [0, "▁braune", -3], [2, "▁Hunde", -0.3], [2, "▁Hund", -1],
      [4, "</s>", -0.1, "finished", -0.5],
    ], { best: 6, chosen: 4 });
    const plan = planTree(data, true, 600, measure);
    const marks = treeMarks({ data, plan, theme: colors, measure, at: { node: 5 } }, whole(plan));
    return { ...plan, marks };
  },
  head_grid: (colors) => {
    const weights = Uint8Array.from(numbers(2 * 2 * 9), (weight) => 255 * weight);
    const parts = [
      gridPart("encoder_self", 2, 2, 3, 3, { weights }),
      gridPart("cross", 2, 2, 3, 3, { weights, last: 1 }),
    ];
    const plan = planGrid({ parts, order: null }, 400, measure);
    return { ...plan, marks: gridMarks(plan, colors, 1, new Set(["cross 1 0"])) };
  },
  inside_head: (colors) => {
    const data = insideData();
    for (const array of Object.values(data.arrays)) array.set(numbers(array.length));
    data.arrays.seen.set([1, 1, 0]);
    const plan = planInside(data, 7, 900, measure);
    return { ...plan, marks: insideMarks({ data, plan, theme: colors, step: 7, ratio: 1 }) };
  },
  mask_grids: (colors) => {
    const codes = Uint8Array.of(0, 1, 2, 0, 0, 3, 0, 0, 0);
    const grid = maskGrid(3, 3, { codes, faded: [false, false, true] });
    const plan = planMasks([grid], 400, 400, measure);
    const squares = maskSquares(grid, plan, { color: "#0072b2", asNumbers: false, theme: colors });
    const [width, height] = extent(plan, grid);
    const marks = maskMarks({
      grid, plan, theme: colors, measure, squares, chosen: 2, at: { row: 0, key: 1 },
    });
    return { width, height, marks };
  },
  player: (colors) => {
    const size = [3, 4] as [number, number];
    const kind = {
      kind: "cross", name: "cross-attention", color: "#d55e00", layers: 2, heads: 3,
      selected: [1, 0], size, whole: size, palette,
      weights: Float32Array.from(numbers(2 * 3 * 12)),
    } as import("../../viz/browser/player/plan.ts").KindData;
    const data = {
      title: "", languages: ["", ""] as [string, string], outside: "", training: [],
      source: words("s", 4), written: words("w", 4), kind: kind.kind, kinds: [kind], links: [],
      steps: Array.from({ length: 3 }, () => ({
        options: [0.7, 0.2, 0.1].map((p, n) => ({ label: `o${n}`, p })), taken: 1,
      })),
    };
    const head = { kind: "cross", layer: 1, head: 0 } as const;
    const row = [0, 1, 2, 3].map((piece) => ({ piece, new: piece === 2 }));
    const plan = planPlayer(data, 900, measure, [...row.slice(0, 3), { text: "lost" }, row[3]]);
    const { tiles, width, height } = planTiles(kind, 900, false);
    const moment = {
      data, plan, theme: colors, measure, kind, head, step: 1, part: 0.5, all: false, word: null,
      near: null, shows: "head" as const, removed: [],
      crossed: [{ kind: "cross" as const, layer: 0, head: 2 }], writes: "",
    };
    const marks = [
      ...stageMarks(moment), group(nextMarks(moment), { x: plan.width + 20 }),
      group(tileMarks({ ...moment, tiles, outlined: head }), { y: plan.height }),
    ];
    return { width, height: plan.height + height, marks };
  },
  ribbons: (colors) => {
    const data = ribbonData(2, 3, 4, { weights: numbers(24) });
    const [plan, on] = [planRibbons(data, 2, 500, measure), [0, 1]];
    const shown = { side: "queries" as const, index: 1 };
    const curves = { data, plan, colors: ["#0072b2", "#d55e00"], on, shown };
    const marks = ribbonMarks({
      ...curves, theme: colors, measure, at: shown, picked: shown, visible: whole(plan),
      ribbons: curveMarks(curves, ribbonsOf(data, on, shown)),
    });
    return { ...plan, marks };
  },
  step_bars: (colors) => {
    const steps = [["Zwei", "Ein"], ["Hunde", "Hund", "Tiere"]].map((labels) =>
      labels.map((label, n) => ({ raw: label, label, p: [0.25, 0.5, 0][n] })));
    const data = { title: "", note: "", steps };
    const plan = planBars(data, measure);
    const marks = barMarks({ data, plan, theme: colors, measure, at: { step: 1, row: 1 } }, [0, 1]);
    return { ...plan, marks };
  },
  tensor_strip: (colors) => {
    const values = numbers(24).map((value) => 2 * value - 1);
    const data = stripData(3, 8, { values });
    const plan = planStrip(data, 300, measure);
    return { ...plan, marks: stripMarks(data, plan, colors, false) };
  },
  translation_editor: (colors) => {
    const pieces = [["Zwei", 0.9], ["Hun", 0.5], ["de", 0.4]].map(([label, p], n) => ({
      raw: String(label), label: String(label), start: 5 * n, end: 5 * n + 4,
      logProb: Math.log(Number(p)), p: Number(p), others: [],
    }));
    const box = (n: number) => ({ left: 60 * n, top: 10, right: 60 * n + 50, bottom: 40 });
    const placed = wordsOf(pieces, [0, 1, 1], 1).map((word, index) => ({
      word: { ...word, index, sure: true }, boxes: [box(index)],
    }));
    const marks = editorMarks({
      placed, open: 1, boxesOf: (piece) => [box(piece)], fromRight: false,
      data: { pieces } as any, theme: colors,
    });
    return { width: 180, height: 50, marks };
  },
  word_links: (colors) => {
    const data = linkData(4, 3, [[0, 0, 0.9], [1, 1, 0.5], [2, 1, 0.25, 1], [3, 2, 0.004]]);
    const plan = planLinks(data, 500, measure);
    const shown = { side: "target" as const, index: 1 };
    const marks = linkMarks({
      data, plan, theme: colors, measure, at: shown, pinned: shown, shown,
    });
    return { ...plan, marks };
  },
};

/** Rasters as their hashes, so that the files stay small. */
const address = ({ width, height, pixels }: import("../../viz/browser/core/scene.ts").Raster) =>
  `data:${width}x${height},${createHash("sha256").update(pixels).digest("hex").slice(0, 16)}`;

/** A line for each mark. */
function svgFile(colors: Theme, { width, height, marks }: Picture) {
  const ground = rect({ x: 0, y: 0, width, height, fill: colors.paper });
  const picture = { width, height, marks: [ground, ...marks], font: colors.font };
  return `${svgOf(picture, { measure, address }).replaceAll("><", ">\n<")}\n`;
}

for (const [name, draw] of Object.entries(PICTURES)) {
  for (const colors of THEMES) {
    const path = new URL(`${name}.${colors.name}.svg`, FOLDER);
    test(`${name} in ${colors.name} looks as in its snapshot`, () => {
      const file = svgFile(colors, draw(colors));
      if (RENEW) writeFileSync(path, file);
      assert.equal(file, readFileSync(path, "utf8"));
    });
  }
}

test("every component that draws marks has a snapshot, and no snapshot is left over", () => {
  const components = Object.keys(COMPONENTS).sort();
  assert.deepEqual(Object.keys(PICTURES), components);
  assert.deepEqual(readdirSync(FOLDER).sort(), components.flatMap((name) =>
    THEMES.map((colors) => `${name}.${colors.name}.svg`)).sort());
});
