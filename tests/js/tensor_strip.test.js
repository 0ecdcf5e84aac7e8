import assert from "node:assert/strict";
import { test } from "node:test";
import { planStrip, TensorStrip } from "../../viz/browser/tensor_strip.ts";
import { measure, stripData, viewOf, words } from "./samples.js";

test("values fill the frame; named columns are no wider than their words need", () => {
  const plan = planStrip(stripData(4, 16), 720, measure);
  assert.equal(plan.width, 720);
  assert.equal(plan.left, 12 + 8); // two letters of 6, and the edge
  const named = planStrip(stripData(4, 10, { columnNames: words("p", 10) }), 720, measure);
  assert.equal(named.wide, 280);
  assert.equal(named.width, 300);
});

test("rows shrink until they are hard to hit; long words take no more than their share", () => {
  assert.equal(planStrip(stripData(4, 8), 720, measure).row, 20);
  assert.equal(planStrip(stripData(24, 8), 720, measure).row, 15);
  const many = planStrip(stripData(100, 8), 720, measure);
  assert.deepEqual([many.row, many.height], [12, 1200]);
  const long = planStrip(stripData(1, 8, { rows: ["sehr".repeat(40)] }), 360, measure);
  assert.equal(long.left, 144 + 8);
});

test("the place of each value is found again, and no other place", () => {
  const data = stripData(4, 16);
  const plan = planStrip(data, 720, measure);
  const view = viewOf(TensorStrip, { data, plan });
  for (const [row, column] of [[0, 0], [2, 11], [3, 15]]) {
    const x = plan.left + ((column + 0.5) * plan.wide) / 16;
    assert.deepEqual(view.hit(x, (row + 0.5) * plan.row), { row, key: column });
  }
  for (const [x, y] of [[plan.left - 1, 5], [plan.width + 1, 5], [400, -1], [400, plan.height]]) {
    assert.equal(view.hit(x, y), null);
  }
});

test("arrow keys begin at the first value and stop at the edges", () => {
  const data = stripData(2, 3);
  for (const [at, key, to] of /** @type {[any, string, number[] | null][]} */ ([
    [null, "ArrowDown", [0, 0]], [[0, 0], "ArrowRight", [0, 1]], [[0, 1], "ArrowDown", [1, 1]],
    [[1, 2], "ArrowDown", [1, 2]], [[1, 2], "ArrowRight", [1, 2]], [[0, 0], "ArrowLeft", [0, 0]],
    [null, "Enter", null], [null, "toString", null],
  ])) {
    const [[row, column], plan] = [at ?? [], planStrip(data, 720, measure)];
    const next = viewOf(TensorStrip, { data, plan, at: at && { row, key: column } }).target(key);
    assert.deepEqual(next, to && { row: to[0], key: to[1] });
  }
});

