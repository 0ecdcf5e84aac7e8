// The player of a training run: what it says at a step, and the maps of its first and last step.
// The numbers of its message are tested in Python.

import assert from "node:assert/strict";
import { test } from "node:test";
import { stageMarks } from "../../viz/browser/player/marks.ts";
import { planPlayer } from "../../viz/browser/player/plan.ts";
import { assertApart, measure, only, palette, textsOf, theme } from "./samples.ts";

function runOf(numbers: number[]) {
  const [queries, keys] = [2, 3];
  const weights = new Float32Array(numbers.length * queries * keys);
  const last = (numbers.length - 1) * queries * keys;
  for (let n = 0; n < queries; n++) weights[last + n * keys + n] = 1;
  const kind = {
    kind: "cross", name: "cross-attention", color: "#D55E00", layers: 1, heads: 1,
    selected: [0, 0], size: [queries, keys],
  } as const;
  return {
    title: "", source: ["a", "b", "</s>"], written: ["<s>", "x", "</s>"], steps: [], links: [],
    languages: ["", ""] as [string, string], outside: "",
    kinds: [{ ...kind, selected: [0, 0] as [number, number],
      size: [queries, keys] as [number, number], whole: [queries, keys] as [number, number],
      weights, palette }],
    training: numbers.map((number, n) => ({ number, written: ["", null, "x x"][n % 3], loss: "" })),
  };
}

test("the first and the last step stand beside the ribbons, each with its own weights", () => {
  for (const width of [390, 1200]) {
    const data = runOf([1, 2, 5000]);
    const plan = planPlayer(data, width, measure);
    const [kind] = data.kinds;
    const marks = stageMarks({
      data, plan, theme, measure, kind, head: { kind: "cross", layer: 0, head: 0 }, step: 0,
      part: 1, all: true, word: null, near: null, shows: "head", removed: [], crossed: [],
      writes: "",
    });
    assert.deepEqual(textsOf(marks).slice(-2), ["L1 H1 · step 1", "step 5,000"]);
    const maps = only(marks, "picture");
    const red = maps.map(({ raster: { pixels } }) =>
      Array.from({ length: 6 }, (_, n) => pixels[4 * n]));
    assert.deepEqual(red, [[0, 0, 0, 0, 0, 0], [255, 0, 0, 0, 255, 0]]);
    const words = [...plan.source, ...plan.written]
      .map((place) => ({ ...place, height: plan.high }));
    assertApart([...maps, ...words], plan, `${width}`);
  }
  assert.equal(planPlayer(runOf([1]), 1200, measure).ends, null); // nothing to compare
});
