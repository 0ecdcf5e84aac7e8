import assert from "node:assert/strict";
import { test } from "node:test";
import {
  extent, gridMarks, MaskGrids, maskMarks, planMasks, squareMarks,
} from "../../viz/browser/mask_grids.ts";
import { maskGrid, measure, only, textsOf, theme, viewOf } from "./samples.js";

/** @import { MaskScene } from "../../viz/browser/mask_grids.ts" */

const [SEEN, LATER, PADDING, BOTH] = [0, 1, 2, 3];
const LOOK = { color: "#0072b2", asNumbers: false, theme };

test("each grid gets its own codes", () => {
  const grids = [{ title: "one" }, { title: "two" }];
  const codes = [Uint8Array.of(0, 1), Uint8Array.of(2, 3)];
  const data = MaskGrids.read({
    meta: { title: "masks", grids }, arrays: { "codes.0": codes[0], "codes.1": codes[1] },
    shapes: {},
  });
  assert.deepEqual(data.grids.map((grid) => [grid.title, grid.codes]),
    [["one", codes[0]], ["two", codes[1]]]);
});

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

test("each square stands at its place and looks as its code says; padding is fainter", () => {
  const codes = Uint8Array.of(SEEN, LATER, SEEN, PADDING, BOTH, SEEN);
  const grid = maskGrid(2, 3, { codes, faded: [false, true] });
  const plan = planMasks([grid], 800, 800, measure);
  const { marks, layer } = gridMarks(grid, plan, LOOK);
  assert.deepEqual(layer, extent(plan, grid));
  const squares = only(marks, "rect");
  assert.deepEqual(squares.map(({ fill }) => fill),
    [...codes].map((code) => (code ? theme.line : LOOK.color)));
  assert.deepEqual(squares.map(({ opacity = 1 }) => Math.round(100 * opacity)),
    [100, 40, 100, 14, 14, 35]);
  squares.forEach(({ x, y, width, height }, n) => {
    assert.deepEqual([x - 0.5, y - 0.5], [
      plan.left + (n % 3) * plan.square, plan.top + Math.floor(n / 3) * plan.square,
    ]);
    assert.deepEqual([width, height], [plan.square - 1, plan.square - 1]);
  });
});

test("every reason has a stroke of its own, in the middle of its square", () => {
  const place = { x: 100, y: 200, side: 10 };
  const strokes = [SEEN, LATER, PADDING, BOTH].map((code) => {
    const [, stroke] = squareMarks(code, LOOK, place);
    return stroke?.type === "path" ? stroke.d : "";
  });
  assert.deepEqual(strokes,
    ["", "M103,207L107,203", "M103,205L107,205", "M103,203L107,207M103,207L107,203"]);
});

test("as numbers the squares say what is added, in ink that stands out", () => {
  const numbers = [SEEN, BOTH].map((code) => {
    const [, mark] = squareMarks(code, { ...LOOK, asNumbers: true }, { x: 0, y: 0, side: 20 });
    return mark.type === "text" ? [mark.text, mark.fill, mark.x] : [];
  });
  assert.deepEqual(numbers, [["0", "#FFFFFF", 10], ["−∞", theme.ink, 10]]);
});

test("the chosen row is framed, and the words of what is pointed at are bold", () => {
  const grid = maskGrid(3, 4);
  const plan = planMasks([grid], 800, 800, measure);
  const { square, left, top } = plan;
  const marks = marksOf({ grid, plan, chosen: 2, at: { row: 1, key: 3 } });
  const frames = only(marks, "rect").filter(({ stroke }) => stroke);
  assert.deepEqual(frames.map(({ x, y, width, height }) => [x, y, width, height]), [
    [left - 1, top + 2 * square - 1, 4 * square + 2, square + 2],
    [left + 3 * square, top + square, square, square],
  ]);
  const bold = only(marks, "text").filter(({ weight }) => weight === 600);
  assert.deepEqual(textsOf(bold), ["q1", "q2", "k3"]);
  assert.deepEqual(textsOf(marks), ["q0", "q1", "q2", "k0", "k1", "k2", "k3"]);
});

/** @param {Pick<MaskScene, "grid" | "plan">
 *   & Partial<MaskScene>} scene */
const marksOf = (scene) => maskMarks({
  theme, measure, squares: gridMarks(scene.grid, scene.plan, LOOK), chosen: null, at: null,
  ...scene,
});
