// The name of a saved picture, and the title in it, say which head its marks show.

import assert from "node:assert/strict";
import { test } from "node:test";
import { AttentionMap } from "../../viz/browser/attention_map/view.ts";
import { planGrid } from "../../viz/browser/head_grid/plan.ts";
import { HeadGrid } from "../../viz/browser/head_grid/view.ts";
import { InsideHead } from "../../viz/browser/inside_head/view.ts";
import { planRibbons, Ribbons } from "../../viz/browser/ribbons.ts";
import { COMPONENTS } from "../../viz/browser/streamlit.ts";
import { planLinks } from "../../viz/browser/word_links/plan.ts";
import { WordLinks } from "../../viz/browser/word_links/view.ts";
import {
  gridPart, insideData, linkData, mapData, measure, only, ribbonData, textsOf, theme, viewOf,
} from "./samples.ts";

const HEAD = "L2 H5 · cross-attention";
const OTHER_HEADS = ["architecture", "beam_tree", "mask_grids", "step_bars", "tensor_strip",
  "translation_editor"]; // no head, or every head of a layer
const OWN_TEST = ["player"];

/** The file of a view whose label is a title, with what its Save menu asks for. */
function fileOf<T extends { drawing(): any }>(Component: new () => T, fields: any, label = "") {
  const root = { getAttribute: () => label };
  const note = { textContent: "" };
  return viewOf(Component, { theme, measure, root, note, at: null, ...fields }).drawing();
}

function ribbonFile(heads: string[], title: string, on: number[]) {
  const data = ribbonData(heads.length, 2, 3, { heads, title });
  const plan = planRibbons(data, on.length, 400, measure);
  return fileOf(Ribbons, { data, plan, on, picked: null, all: null });
}

const FILES: Record<string, () => { name: string; marks: any[] }> = {
  attention_map: () => fileOf(AttentionMap, {
    data: mapData(2, 3, { title: HEAD }), plan: { width: 10, height: 10 }, marks: () => [],
  }, "another"),
  head_grid: () => {
    const parts = [gridPart("cross", 2, 2, 2, 3, { name: "cross-attention" })];
    const data = { key: "", selected: null, order: null, parts, nameEnd: "norms" };
    const plan = planGrid(data, 400, measure);
    return fileOf(HeadGrid, { data, plan, notes: [], crossed: new Set(), selected: null });
  },
  inside_head: () => fileOf(InsideHead, {
    data: { ...insideData(), title: HEAD, steps: [{ name: "weights", says: "", shape: "" }] },
    shared: { value: 0 }, plan: { width: 10, height: 10 }, marks: () => [],
  }, `${HEAD} · q0`),
  ribbons: () => ribbonFile(["L2 H5"], "cross-attention", [0]),
  word_links: () => {
    const data = { ...linkData(2, 2, [[0, 0, 1]]), madeBy: "cross-attention L2 H5" };
    return fileOf(WordLinks, {
      data, plan: planLinks(data, 400, measure), pinned: null, marks: () => [],
    }, data.title);
  },
};

for (const [component, file] of Object.entries(FILES)) {
  test(`a saved ${component} names its head, in the file and in its name`, () => {
    const { name, marks } = file();
    const inside = textsOf(marks).join(" ");
    assert.match(name, /^headlight-.*cross-attention/);
    assert.match(inside, /cross-attention/);
    if (component === "head_grid") {
      assert.equal(name, "headlight-heads-cross-attention-norms");
      return;
    }
    assert.match(name, /l2-h5/);
    assert.match(inside, /L2 H5/);
  });
}

test("ribbons name the heads that are drawn, and no other", () => {
  const heads = ["L2 H5", "L4 H1", "L6 H8"];
  for (const on of [[0], [1, 2], [0, 1, 2], []]) {
    const { name, marks } = ribbonFile(heads, "cross-attention · norms · without sinks", on);
    const drawn = new Set(only(marks, "path").map(({ stroke }) => stroke));
    heads.forEach((head, n) => {
      assert.equal(name.includes(head.toLowerCase().replace(" ", "-")), on.includes(n), name);
      assert.equal(drawn.has(`#l${n}`), on.includes(n));
    });
    assert.ok(name.endsWith("cross-attention-norms-without-sinks-ribbons"), name);
  }
});

test("eight heads under the longest lens are not cut from a name", () => {
  const heads = Array.from({ length: 8 }, (_, n) => `L12 H${n + 9}`);
  const title = "cross-attention · norms with residual and LayerNorm · without sinks";
  const { name } = ribbonFile(heads, title, heads.map((_, n) => n));
  assert.ok(name.startsWith("headlight-l12-h9-l12-h10"), name);
  assert.ok(name.endsWith("without-sinks-ribbons"), name);
});

test("every component is among those whose names are tested, or shows no single head", () => {
  assert.deepEqual([...Object.keys(FILES), ...OTHER_HEADS, ...OWN_TEST].sort(),
    Object.keys(COMPONENTS).sort());
});
