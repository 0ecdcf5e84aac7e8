import assert from "node:assert/strict";
import { test } from "node:test";
import { SharedChoice } from "../../viz/browser/core/store.ts";
import {
  type ArrayName, isMade, partAt, planInside,
} from "../../viz/browser/inside_head/plan.ts";
import { InsideHead, tableHead, tableRows, wordsOf } from "../../viz/browser/inside_head/view.ts";
import { assertApart, insideData, measure, plain, viewOf } from "./samples.ts";

const STEPS = 10;
const [WIDE, NARROW] = [1200, 390];

const planned = (step: number, width: number, data = insideData()) =>
  planInside(data, step, width, measure);

test("in a wide frame no step moves anything", () => {
  for (let step = 1; step < STEPS; step++) assert.deepEqual(planned(step, WIDE), planned(0, WIDE));
});

test("in a narrow frame a step shows what it makes, and all of them the softmax", () => {
  for (let step = 0; step < STEPS; step++) {
    const plan = planned(step, NARROW);
    assert.equal(plan.width, NARROW);
    assert.ok(plan.parts.some((part) => part.step === (step || 6)), `step ${step}`);
    for (const { name, x, width } of plan.parts) assert.ok(x + width <= NARROW + 0.01, name);
  }
});

test("on a low screen a picture of 14 keys is whole, with all its parts apart", () => {
  const data = { ...insideData(), keys: Array.from({ length: 14 }, (_, n) => `k${n}`) };
  const [roomy, low] = [Infinity, 350].map((tallest) =>
    planInside(data, 0, WIDE, measure, tallest));
  assert.ok(roomy.height > 350 && low.height <= 350, `${roomy.height}, ${low.height}`);
  assert.deepEqual(low.parts.map(({ name }) => name), roomy.parts.map(({ name }) => name));
  assertApart(low.parts, low, "low");
});

test("no two parts lie over each other, and all lie in the picture", () => {
  for (const width of [WIDE, NARROW]) {
    for (let step = 0; step < STEPS; step++) {
      const plan = planned(step, width);
      assertApart(plan.parts, plan, `step ${step} at ${width}`);
    }
  }
});

test("the place of each value is found again, and no place of another step", () => {
  for (const [step, width] of [[0, WIDE], [0, NARROW], [7, WIDE], [7, NARROW]]) {
    const plan = planned(step, width);
    const view = viewOf(InsideHead, { plan, shared: new SharedChoice(step) });
    for (const part of plan.parts) {
      const { name, rows, columns } = part;
      for (const [row, column] of [[0, 0], [rows - 1, columns - 1]]) {
        const x = part.x + ((column + 0.5) * part.width) / columns;
        const y = part.y + ((row + 0.5) * part.height) / rows;
        const at = view.hit(x, y);
        if (!isMade(part, step)) {
          assert.equal(at, null);
          continue;
        }
        assert.deepEqual(at, { name, step: part.step, row, column });
        assert.equal(at && partAt(plan, step, at), part);
      }
      assert.equal(view.hit(part.x - 1, part.y + 1)?.name === name, false);
    }
    assert.equal(view.hit(1, plan.height + 1), null);
  }
});

test("a value is named with its key, its head, its place", () => {
  const data = insideData();
  data.arrays.weighted[1 * 5 + 2] = -3;
  data.arrays.norms[1] = 4;
  const { parts } = planned(0, WIDE);
  const wordsAt = (name: ArrayName, row: number, column: number) => {
    const part = parts.find((candidate) => candidate.name === name);
    return plain(wordsOf(data, part as any, { row, column }).join(" "));
  };
  assert.equal(wordsAt("weighted", 1, 2), "α v · “k1” · 3 of 5 −3");
  assert.equal(wordsAt("dots", 0, 0), "q · k · “k0” 0");
  assert.equal(wordsAt("scaled", 0, 0), "q · k ÷ √dₖ · “k0” 0");
  assert.equal(wordsAt("seen", 2, 0), "mask · “k2” hidden");
  assert.equal(wordsAt("norms", 0, 1), "length of what head 2 adds 4");
  assert.equal(wordsAt("concat", 0, 5), "z of head 2, this one · 1 0");
  assert.equal(wordsAt("concat", 0, 14), "z of head 3 · 5 0");
  assert.deepEqual(tableHead(data), ["key", "q · k", "÷ √dₖ", "mask", "softmax"]);
  assert.deepEqual(tableRows(data)[1], ["k1", "0", "0", "hidden", "0"]);
});

test("a click that takes back one which is not answered yet is not undone by that answer", () => {
  const view = viewOf(InsideHead, {
    data: { steps: Array(STEPS).fill({}) }, options: {}, play: {}, shared: new SharedChoice(0),
    showStep() {}, layOut() {},
  });
  view.follow(0);
  view.go(3);
  view.go(0);
  view.follow(3);
  assert.equal(view.step, 0);
  view.follow(0);
  view.follow(5); // nothing is awaited any more: Back, or a link
  assert.equal(view.step, 5);
});
