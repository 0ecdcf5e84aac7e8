import assert from "node:assert/strict";
import { test } from "node:test";
import { planStrip, TensorStrip } from "../../viz/browser/tensor_strip.ts";
import { measure, stripData, viewOf } from "./samples.ts";

test("a value is found where it is drawn, and none beside its row", () => {
  const data = stripData(4, 16);
  const plan = planStrip(data, 720, measure);
  const view = viewOf(TensorStrip, { data, plan, at: null });
  const x = plan.left + (11.5 * plan.wide) / 16;
  assert.deepEqual(view.hit(x, 2.5 * plan.row), { row: 2, key: 11 });
  assert.equal(view.hit(plan.left - 1, 5), null);
  assert.equal(view.target("toString"), null);
});
