import assert from "node:assert/strict";
import { test } from "node:test";
import {
  extent, gridMarks, MaskGrids, maskMarks, planMasks, squareMarks,
} from "../../viz/browser/mask_grids.ts";
import { maskGrid, measure, textsOf, theme, viewOf } from "./samples.js";

/** @import { MaskScene } from "../../viz/browser/mask_grids.ts" */

const [SEEN, BOTH] = [0, 3];
const LOOK = { color: "#0072b2", asNumbers: false, theme };

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

test("a long word has no more than its place, and says that it goes on", () => {
  const grid = maskGrid(1, 2, { keys: ["k", "x".repeat(90)] });
  const plan = planMasks([grid], 800, 800, measure);
  assert.equal(plan.top, 128);
  const [, , cut] = textsOf(marksOf({ grid, plan }));
  assert.ok(cut.length > 10 && measure(cut, plan.font, 400) <= 112, cut);
  assert.match(cut, /^x+…$/);
});

test("each square is hit where it is drawn, and the words beside it choose its row", () => {
  const grid = maskGrid(5, 7);
  const plan = planMasks([grid], 800, 800, measure);
  const { square, left, top } = plan;
  const view = viewOf(MaskGrids, { plan, data: { grids: [grid] }, active: 0 });
  for (const [row, key] of [[0, 0], [4, 6], [2, 5]]) {
    const [x, y] = [left + key * square, top + row * square];
    for (const [dx, dy] of [[0.1, 0.1], [square - 0.1, square - 0.1]]) {
      assert.deepEqual(view.hit(x + dx, y + dy), { row, key });
    }
    assert.deepEqual(view.hit(1, y + 1), { row, key: 0 });
  }
  assert.equal(view.hit(left + 1, top - 1), null);
  assert.equal(view.hit(left + 7 * square + 1, top + 1), null);
  assert.equal(view.hit(left + 1, top + 5 * square + 1), null);
});

test("arrow keys stay in the grid", () => {
  for (const [from, pressed, to] of /** @type {any[][]} */ ([
    [null, "ArrowRight", [0, 0]], [null, "ArrowDown", [0, 0]], [[0, 0], "ArrowUp", [0, 0]],
    [[0, 2], "ArrowDown", [1, 2]], [[1, 2], "ArrowRight", [1, 2]],
  ])) {
    const [at, next] = [from, to].map((place) => place && { row: place[0], key: place[1] });
    const view = viewOf(MaskGrids, { at, data: { grids: [maskGrid(2, 3)] }, active: 0, plan: {} });
    assert.deepEqual(view.target(pressed), next);
  }
});

test("as numbers the squares say what is added, in ink that stands out", () => {
  const numbers = [SEEN, BOTH].map((code) => {
    const [, mark] = squareMarks(code, { ...LOOK, asNumbers: true }, { x: 0, y: 0, side: 20 });
    return mark.type === "text" ? [mark.text, mark.fill, mark.x] : [];
  });
  assert.deepEqual(numbers, [["0", "#FFFFFF", 10], ["−∞", theme.ink, 10]]);
});

/** @param {Pick<MaskScene, "grid" | "plan">
 *   & Partial<MaskScene>} scene */
const marksOf = (scene) => maskMarks({
  theme, measure, squares: gridMarks(scene.grid, scene.plan, LOOK), chosen: null, at: null,
  ...scene,
});
