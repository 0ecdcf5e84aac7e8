import assert from "node:assert/strict";
import { test } from "node:test";
import { paletteOf } from "../../viz/browser/core/palette.ts";
import { noteOn, planStrip, stripMarks, TensorStrip } from "../../viz/browser/tensor_strip.ts";
import { noteOn as noteInside } from "../../viz/browser/inside_head/view.ts";
import { insideData, measure, stripData, theme, viewOf } from "./samples.ts";

test("the notes name the colours of values below and above 0", () => {
  const { light } = paletteOf(null);
  const [below, above] = [0, light.length / 3 - 1].map((n) => {
    const [red, green, blue] = light.subarray(3 * n, 3 * n + 3);
    return blue < Math.min(red, green) ? "olive" : green < Math.min(red, blue) ? "purple" : "?";
  });
  const says = new RegExp(`^.*${below} is below 0, ${above} above`, "i");
  const data = { ...stripData(1, 2), values: new Float32Array([-1, 1]) };
  for (const note of [noteOn(data, false), noteInside(insideData())]) assert.match(note, says);
});

test("a value is found where it is drawn, and none beside its row", () => {
  const data = stripData(4, 16);
  const plan = planStrip(data, 720, measure);
  const view = viewOf(TensorStrip, { data, plan, at: null });
  const x = plan.left + (11.5 * plan.wide) / 16;
  assert.deepEqual(view.hit(x, 2.5 * plan.row), { row: 2, key: 11 });
  assert.equal(view.hit(plan.left - 1, 5), null);
  assert.equal(view.target("toString"), null);
});

test("a score that a mask hides is blank, and named −∞", () => {
  const data = { ...stripData(2, 2), values: new Float32Array([1, -Infinity, -1, 0.5]), end: 1 };
  const plan = planStrip(data, 400, measure);
  const marks = stripMarks(data, plan, theme, false);
  const raster = marks.flatMap((mark) => ("raster" in mark ? [mark.raster] : []))[0];
  const opacities = [0, 1, 2, 3].map((n) => raster.pixels[4 * n + 3]);
  assert.deepEqual(opacities, [255, 0, 255, 255]);
  const view = viewOf(TensorStrip, { data, plan, at: null });
  assert.equal(view.words({ row: 0, key: 1 })[1], "−∞");
  assert.equal(view.words({ row: 1, key: 0 })[1], "−1");
});
