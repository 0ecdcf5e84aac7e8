import assert from "node:assert/strict";
import { test } from "node:test";
import { extent, MaskGrids, planMasks } from "../../viz/browser/mask_grids.ts";
import { maskGrid, measure, plain, viewOf } from "./samples.ts";

test("squares are of one size for all sentences, as large as the width lets them be", () => {
  const sizes = [4, 15, 20, 30, 100].map((count) => {
    const grids = [maskGrid(count, count), maskGrid(2, 3)];
    const plan = planMasks(grids, 390, 800, measure);
    const [width] = extent(plan, grids[0]);
    assert.ok(width <= 392 || plan.square === 13, String(count));
    return plan.square;
  });
  assert.deepEqual(sizes, [26, 24, 18, 13, 13]);
});

test("the words beside the squares choose their row", () => {
  const grid = maskGrid(5, 7);
  const plan = planMasks([grid], 800, 800, measure);
  const { square, left, top } = plan;
  const view = viewOf(MaskGrids, { plan, data: { grids: [grid] }, active: 0 });
  assert.deepEqual(view.hit(1, top + 4.5 * square), { row: 4, key: 0 });
  assert.deepEqual(view.hit(left + 6.9 * square, top + 1), { row: 0, key: 6 });
  assert.equal(view.hit(left + 1, top - 1), null);
});

test("a square says whether its query may see its key", () => {
  const grid = maskGrid(2, 2, { codes: Uint8Array.of(0, 1, 0, 0) });
  const data = { grids: [grid], reasons: ["", "it comes later"] };
  const words = (row: number, key: number) =>
    plain(viewOf(MaskGrids, { data, active: 0 }).words({ row, key })[0]);
  assert.equal(words(0, 1), "The row of q0 may not see “k1”: it comes later.");
  assert.equal(words(1, 1), "The row of q1 may see “k1”.");
});
