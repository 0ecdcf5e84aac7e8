import assert from "node:assert/strict";
import { test } from "node:test";
import { matching } from "../../viz/browser/lines/list.ts";
import {
  distanceOf, foremost, orderOf, planSummary, ROW, topOf,
} from "../../viz/browser/lines/view.ts";
import { HeadSummary, summaryMarks, wordsOf } from "../../viz/browser/lines/view.ts";
import { measure, only, palette, theme, viewOf } from "./samples.js";

const REACH = 2;

/**
 * @param {"encoder_self" | "decoder_self" | "cross"} kind
 * @param {number[]} means of a measure, one for each head
 * @returns {import("../../viz/browser/lines/view.ts").SummaryPart}
 */
const part = (kind, means) => ({
  kind, title: kind, color: "#123456", columns: 2 * REACH + 3, palette,
  profile: new Float64Array(means.length * (2 * REACH + 3)),
  heads: means.map((mean, head) => ({
    layer: 0, head, name: `L1 H${head + 1}`, role: "", roles: [],
    values: { entropy: [mean, 0.5, [mean - 1, 7], [mean + 1, 8]] },
  })),
});

const parts = [part("encoder_self", [2, 3, 1]), part("cross", [5, 4])];

test("heads stand by layer, or by a measure, the largest first", () => {
  assert.deepEqual(orderOf(parts[0], null), [0, 1, 2]);
  assert.deepEqual(orderOf(parts[0], "entropy"), [1, 0, 2]);
  const data = /** @type {any} */ ({ parts });
  assert.deepEqual(foremost(data, "entropy", 3).map(({ value }) => value), [5, 4, 3]);
});

test("where a strip is of a layer's shares, no word tells of heads or weights", () => {
  const words = JSON.stringify(wordsOf({ together: true, amount: "share" }));
  assert.doesNotMatch(words, /head|weight/i);
  assert.match(words, /Each layer over all sentences.*the mean share at each position/);
  assert.match(JSON.stringify(wordsOf({ together: false, amount: "weight" })),
    /Each head over all sentences.*the mean weight at each position/);
});

test("panels stand side by side where there is room, and never past the frame", () => {
  for (const width of [366, 500, 900, 1360]) {
    const plan = planSummary(parts, null, width, measure);
    assert.equal(plan.stacked, width < 500);
    assert.ok(plan.width <= width, `${plan.width} in ${width}`);
    assert.equal(plan.panels[1].y > 0, plan.stacked);
  }
});

test("every head and column is found where it stands", () => {
  const plan = planSummary(parts, "entropy", 900, measure);
  const view = viewOf(HeadSummary, { plan });
  plan.panels.forEach((panel, n) => panel.rows.forEach((_, row) => {
    const y = topOf(panel, row) + ROW / 2;
    for (let column = 0; column < panel.part.columns; column++) {
      const x = panel.strip + (column + 0.5) * panel.cell;
      assert.deepEqual(view.hit(x, y), { panel: n, row, column });
    }
    assert.deepEqual(view.hit(panel.x + 1, y), { panel: n, row, column: null });
  }));
  assert.equal(view.hit(10, 1), null);
});

test("arrow keys reach every head and stop at the ends", () => {
  const plan = planSummary(parts, null, 900, measure);
  /** @type {import("../../viz/browser/lines/view.ts").SummaryAt | null} */
  let at = null;
  const seen = new Set();
  const to = (/** @type {string} */ key) => viewOf(HeadSummary, { plan, at }).target(key);
  for (let n = 0; n < 9; n++) {
    at = to("ArrowDown");
    seen.add(`${at?.panel}.${at?.row}`);
  }
  assert.deepEqual([...seen], ["0.0", "0.1", "0.2", "1.0", "1.1"]);
  for (let n = 0; n < 9; n++) at = to("ArrowRight");
  assert.equal(at?.column, 6);
  for (let n = 0; n < 9; n++) at = to("ArrowUp");
  assert.deepEqual(at, { panel: 0, row: 0, column: 6 });
  for (let n = 0; n < 9; n++) at = to("ArrowLeft");
  assert.equal(at?.column, null);
  assert.equal(to("x"), null);
});

test("a mean stands between its lowest and its highest sentence, on one scale", () => {
  const plan = planSummary(parts, null, 900, measure);
  const data = /** @type {any} */ ({ parts, reach: REACH });
  const rasters = /** @type {any[]} */ (parts.map(() => ({})));
  const marks = summaryMarks({
    data, plan, theme, measure, name: "entropy", rasters, at: null, open: null,
  });
  const dots = only(marks, "circle").filter(({ radius }) => radius === 3);
  const [first] = plan.panels;
  // from 0 (head 3, lowest) to 6 (head 1 of cross, highest)
  assert.deepEqual(dots.slice(0, 3).map(({ x }) => x - first.range), [24, 36, 12]);
});

test("distances and typed words are said and found as people say them", () => {
  assert.deepEqual([0, 1, 3, 4, 6].map((column) => distanceOf(column, REACH)),
    ["more than 2 before", "2 before", "at the same position", "1 after", "more than 2 after"]);
  const sentences = /** @type {any[]} */ ([
    { number: 3, source: "A Café", target: "Ein Haus" }, { number: 4, source: "#3", target: "" },
  ]);
  assert.deepEqual(matching(sentences, "cafe EIN").map(({ number }) => number), [3]);
  assert.deepEqual(matching(sentences, " #4 ").map(({ number }) => number), [4]);
  assert.equal(matching(sentences, "  ").length, 2);
});
