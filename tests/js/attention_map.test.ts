import assert from "node:assert/strict";
import { test } from "node:test";
import {
  averageRow, columnAt, extended, originOf, paintedOf, planMap, squaresOf, turned,
} from "../../viz/browser/attention_map/plan.ts";
import { AttentionMap, mapMarks, mapRaster } from "../../viz/browser/attention_map/view.ts";
import { leveller } from "../../viz/browser/core/color.ts";
import { number } from "../../viz/browser/core/text.ts";
import { mapData, measure, only, palette, plain, theme, viewOf } from "./samples.ts";

const WHOLE = { x: 0, y: 0, width: 720, height: 800 };

test("squares shrink until the map fits, and no further than a pointer can hit", () => {
  const sizes = [2, 10, 20, 40, 100, 400].map((count) =>
    planMap(mapData(count, count), 720, 800, measure).square);
  assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a));
  assert.equal(sizes[0], 46);
  assert.equal(sizes.at(-1), 14);
  for (const count of [2, 10, 20, 40]) {
    assert.ok(planMap(mapData(count, count), 720, 800, measure).width <= 720);
  }
});

test("each square is hit where it is drawn, scrolled or not", () => {
  const data = mapData(30, 60);
  const plan = planMap(data, 390, 800, measure);
  const view = viewOf(AttentionMap, { data, plan });
  for (const visible of [WHOLE, { x: 100, y: 50, width: 390, height: 300 }]) {
    const { x, y, edge } = originOf(plan, visible);
    const hit = (right: number, down: number) =>
      view.hit(right + visible.x, down + visible.y, visible);
    assert.deepEqual([x, y], [plan.left - visible.x, plan.top - visible.y]);
    for (const [row, key] of [[10, 20], [20, 15]]) {
      const [left, top] = [x + key * plan.wide, y + row * plan.square];
      for (const [dx, dy] of [[0.1, 0.1], [plan.wide - 0.1, plan.square - 0.1]]) {
        assert.deepEqual(hit(left + dx, top + dy), { row, key });
      }
      assert.deepEqual(hit(edge - 1, top + 1), { row, key: null });
    }
    assert.equal(hit(edge + 1, plan.top - 1), null);
    assert.equal(hit(x + 60 * plan.wide + 1, plan.top + 1), null);
    const [first, last] = [edge, visible.width - 1].map((side) =>
      Math.min(59, Math.floor((side - x) / plan.wide)));
    const sides = [-50, edge - 1, x + 20.5 * plan.wide, visible.width + 50];
    assert.deepEqual(sides.map((side) => columnAt(data, plan, side, visible)),
      [first, first, 20, last]);
  }
});

test("the raster has each weight's colour, and nothing where the future is hidden", () => {
  const weights = Float32Array.of(1, 0, 0.25, 0.75);
  const { pixels } = mapRaster(mapData(2, 2, { causal: true, weights }), palette.light);
  const colors = [255, 255, 255, 255, 0, 0, 0, 0, 64, 64, 64, 255, 191, 191, 191, 255];
  assert.deepEqual([...pixels], colors);
  const ahead = mapRaster(mapData(2, 2, { weights }), palette.light);
  assert.equal(ahead.pixels[7], 255); // a 0 that is not of the mask
  const few = mapRaster(mapData(2, 2, { weights, threshold: 0.5 }), palette.light);
  assert.deepEqual([3, 7, 11, 15].map((n) => few.pixels[n]), [255, 0, 0, 255]);
});

test("a scale changes levels and keeps their order", () => {
  const weights = Float32Array.of(0.04, 0.16, 0.25, 0.5);
  const levels = (scale: any) => {
    const level = leveller(mapData(2, 2, { weights, scale }));
    return [...weights].map((weight, n) => level(weight, n >> 1));
  };
  assert.deepEqual(levels("linear"), [10, 41, 64, 128]);
  assert.deepEqual(levels("square root"), [51, 102, 128, 180]);
  assert.deepEqual(levels("by row"), [64, 255, 128, 255]);
  const signed = leveller(mapData(1, 2, { scale: "square root", signed: true }));
  assert.deepEqual([signed(-0.04, 0), signed(0.04, 0)], [103, 153]); // apart from 128 alike
});

test("a row of the decoder stands between what it reads and what it writes", () => {
  const both = {
    titles: ["reads", "writes"], reads: ["<s>", "Hunde"], writes: ["Hunde", "sehrlangesWort"],
  } as import("../../viz/browser/attention_map/plan.ts").MapData["both"] & object;
  const data = mapData(2, 3, { both, weights: Float32Array.of(0.9, 0.1, 0, 0.2, 0.3, 0.5) });
  const plan = planMap(data, 390, 800, measure);
  const scene = {
    data, plan, theme, measure, raster: mapRaster(data, palette.light), average: averageRow(data),
    at: null, pinned: null, origin: originOf(plan, WHOLE), width: 390, height: 800,
  };
  const texts = only(mapMarks(scene), "text");
  const end = plan.left + 3 * plan.wide;
  both.reads.forEach((word, row) => {
    const shown = word === "<s>" ? "start" : word;
    const [left, right] = [shown, both.writes[row]].map((name, side) => texts.find(({ text, x }) =>
      plain(text) === name && (side ? x > end : x < plan.left)));
    assert.equal(left?.y, right?.y);
    assert.ok((right?.x ?? 999) + measure(both.writes[row], plan.font, 600) <= plan.width);
  });
  const view = viewOf(AttentionMap, { data, plan });
  assert.deepEqual(view.hit(end + 9, plan.top + 1, WHOLE), { row: 0, key: null });
  view.data.rowNames = ["", "reads “Hunde” and predicts “x”"];
  view.amount = number;
  assert.match(
    view.sentence({ row: 1, key: 2 }), /0.500 This step reads “Hunde” and predicts “x”\.$/);
});

test("arrow keys stay on the map", () => {
  const to = (at: any, key: string) =>
    viewOf(AttentionMap, { data: mapData(2, 3), plan: {}, at }).target(key);
  const at = { row: 0, key: 0 };
  assert.deepEqual(to(at, "ArrowUp"), at);
  assert.deepEqual(to(at, "ArrowDown"), { row: 1, key: 0 });
  assert.deepEqual(to(at, "End"), { row: 0, key: 2 });
  assert.deepEqual(to({ row: 1, key: null }, "End"), { row: 1, key: 0 });
  assert.equal(to(at, "Tab"), null);
});

test("a hand that goes further down than along paints its column, and along again the row", () => {
  const along = [3, 4].reduce(extended, { row: 3, keys: [2] });
  const down = turned(along, 6, 3);
  assert.deepEqual(squaresOf(down), [[3, 2], [4, 2], [5, 2], [6, 2]]);
  assert.deepEqual(squaresOf(turned(down, 1, 2)), [[1, 2], [2, 2], [3, 2]]);
  assert.deepEqual(turned(down, 5, 4), along); // as far along as down
});

test("a stroke leaves out no square between two places, and none counts twice", () => {
  const stroke = [5, 4, 7].reduce(extended, { row: 3, keys: [2] });
  assert.deepEqual(stroke, { row: 3, keys: [2, 3, 4, 5, 6, 7] });
  assert.deepEqual(paintedOf(mapData(2, 3), extended({ row: 1, keys: [2] }, 0)), {
    title: "L1 H1", queries: ["q0", "q1"], keys: ["k0", "k1", "k2"],
    squares: [[1, 2], [1, 1], [1, 0]],
  });
});
