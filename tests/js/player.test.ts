// How fast a player writes a sentence, and the row of a model without some heads.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BreakIt } from "../../viz/browser/player/break_it.ts";
import {
  type KindData, paceOf, planPlayer, type PlayerData,
} from "../../viz/browser/player/plan.ts";
import { measure, viewOf } from "./samples.ts";

const lasting = (length: number, training: object[] = []) =>
  [{ training }, { size: [length, 3] }] as unknown as [PlayerData, KindData];

test("a sentence of 15 words can be followed and ends within 12 s", () => {
  for (const length of [1, 4, 9, 15, 17]) {
    const pace = paceOf(...lasting(length));
    assert.ok(pace >= 600 && pace <= 900, `${length}: ${pace}`);
    assert.ok(pace * length <= 12_000);
  }
  // a run has one sentence for each step, not a word
  assert.equal(paceOf(...lasting(15, [{}])), 450);
});

test("lost words stand in the row without a place among those that are written", () => {
  const written = ["<s>", "x", "z", "</s>"];
  const data = { source: ["a"], written, steps: [], training: [] } as unknown as PlayerData;
  const row = [{ piece: 0, new: false }, { piece: 1, new: false }, { text: "y" },
    { piece: 2, new: true }, { piece: 3, new: false }];
  const plan = planPlayer(data, 900, measure, row);
  assert.deepEqual(plan.lost.map(({ text }) => text), ["y"]);
  assert.deepEqual([...plan.added], [2]);
  const [, x, z, end] = plan.written.map((place) => place.x);
  assert.ok(x < plan.lost[0].x && plan.lost[0].x < z && z < end);
});

test("a link that removes more heads than there are removes all, and one of a few those", () => {
  for (const [linked, shown] of [[999, 24], [3, 3]]) {
    const breaking = viewOf(BreakIt, {
      isOpen: true, shown: linked, data: null, draw() {}, step() {}, player: { changed() {} },
    });
    breaking.follow({ places: [], total: 24 } as any);
    assert.equal(breaking.shown, shown);
  }
});
