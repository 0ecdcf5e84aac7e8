import assert from "node:assert/strict";
import { test } from "node:test";
import { planStrip, stripMarks, TensorStrip } from "../../viz/browser/tensor_strip.ts";
import { measure, stripData, theme, viewOf } from "./samples.ts";

test("a value is found where it is drawn, and none beside its row", () => {
  const data = stripData(4, 16);
  const plan = planStrip(data, 720, measure);
  const view = viewOf(TensorStrip, { data, plan, at: null });
  const x = plan.left + (11.5 * plan.wide) / 16;
  assert.deepEqual(view.hit(x, 2.5 * plan.row), { row: 2, key: 11 });
  assert.equal(view.hit(plan.left - 1, 5), null);
  assert.equal(view.target("toString"), null);
});

test("a masked score has no colour, and is −∞ in words", () => {
  const data = stripData(2, 2, { values: new Float32Array([1, -Infinity, -1, 0]) });
  const plan = planStrip(data, 720, measure);
  const marks: any[] = stripMarks(data, plan, theme, false);
  const { pixels } = marks.find(({ raster }) => raster).raster;
  assert.deepEqual([3, 7, 11, 15].map((n) => pixels[n]), [255, 0, 255, 255]);
  const words = viewOf(TensorStrip, { data, plan, at: null }).words({ row: 0, key: 1 });
  assert.equal(words[1], "−∞");
});
