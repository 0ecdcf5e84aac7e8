import assert from "node:assert/strict";
import { test } from "node:test";
import { planRibbons, Ribbons, ribbonsOf } from "../../viz/browser/ribbons.ts";
import { measure, ribbonData, viewOf } from "./samples.ts";

test("the ribbons of a word are its own, the strongest last", () => {
  const weights = Float32Array.of(0.6, 0.4, 0.005, 0.995, 0.1, 0.9, 1, 0);
  const data = ribbonData(2, 2, 2, { weights });
  const ends = (token: any) => ribbonsOf(data, [0, 1], token)
    .map(({ head, query, key }) => [head, query, key]);
  assert.deepEqual(ends({ side: "queries", index: 1 }), [[0, 1, 1], [1, 1, 0]]);
  assert.deepEqual(ends({ side: "keys", index: 0 }), [[1, 0, 0], [0, 0, 0], [1, 1, 0]]);
  assert.equal(ends(null).length, 6); // 0 and 0.005 are below `from`
  const single = ribbonsOf(data, [1], { side: "keys", index: 0 });
  assert.deepEqual(single.map(({ head }) => head), [1, 1]);
});

test("words are hit on their own side, and nothing between the lists or below the last", () => {
  const data = ribbonData(1, 3, 5);
  const plan = planRibbons(data, 1, 720, measure);
  const y = 2.5 * plan.row;
  const view = viewOf(Ribbons, { data, plan });
  assert.deepEqual(view.hit(5, y), { side: "queries", index: 2 });
  assert.deepEqual(view.hit(plan.right + 5, y), { side: "keys", index: 2 });
  assert.equal(view.hit((plan.left + plan.right) / 2, y), null);
  assert.equal(view.hit(5, 3.5 * plan.row), null); // only three queries
});

test("numbers of all heads stand side by side where there is room, else the largest alone", () => {
  assert.equal(planRibbons(ribbonData(2, 5, 5), 2, 720, measure).numbers, 2);
  assert.equal(planRibbons(ribbonData(8, 5, 5), 8, 300, measure).numbers, 1);
  const narrow = planRibbons(ribbonData(1, 5, 5), 1, 10, measure);
  assert.ok(narrow.right - narrow.left >= 96); // it scrolls instead
});

test("keys walk over both lists and stay on them", () => {
  const data = ribbonData(1, 2, 5);
  for (const [at, picked, key, to] of [
    [["keys", 4], null, "ArrowLeft", ["queries", 1]],
    [["queries", 1], null, "ArrowDown", ["queries", 1]],
    [null, ["queries", 0], "ArrowDown", ["queries", 0]],
  ] as any[][]) {
    const [token, word, next] = [at, picked, to].map((place) =>
      place && { side: place[0], index: place[1] });
    assert.deepEqual(viewOf(Ribbons, { data, at: token, picked: word }).target(key), next);
  }
});
