// What a live page works out without a browser: changed words, painted rows, its address.

import assert from "node:assert/strict";
import test from "node:test";
import { readLink } from "../../viz/browser/live/address.ts";
import { brokenOf } from "../../viz/browser/live/breaking.ts";
import { evenRow, withRow } from "../../viz/browser/live/editing.ts";
import {
  changedRow, changedWords, compared, likelyLanguage,
} from "../../viz/browser/live/words.ts";
import type { HeadPlace, KindTrace, Trace } from "../../viz/browser/core/trace.ts";

const target = {
  text: "Der Hund läuft.", pieces: ["▁Der", "▁Hu", "nd", "▁läuft", ".", "</s>"],
  words: [0, 1, 1, 2, 3, 4],
};
const trace = {
  source: target, target, kinds: [], options: [], beginnings: [],
  logProbs: Float32Array.of(-1, -0.5, -0.5, 0, 0, 0), edited: { removed: [], rows: [], prefix: 0 },
} satisfies Trace;

test("words that both texts have in one order are the same, and all others new or lost", () => {
  const parts = compared(["a", "x", "c"], ["a", "b", "c", "d"]);
  assert.deepEqual(parts.map(({ text, change }) => `${change} ${text}`),
    ["same a", "lost b", "new x", "same c", "lost d"]);
  assert.deepEqual(compared([], []), []);
  assert.deepEqual(compared([], ["a"]).map(({ change }) => change), ["lost"]);
});

const after: Trace = {
  ...trace, target: {
    ...target, text: "Der Kater läuft.", pieces: ["▁Der", "▁Ka", "ter", "▁läuft", ".", "</s>"],
  },
};

test("a row of the player keeps, loses and adds words, and is as long as what is drawn", () => {
  const row = changedRow(target, after.target, 48);
  assert.deepEqual(row, [
    { piece: 0, new: false }, { piece: 1, new: false }, { text: "Hund" }, { piece: 2, new: true },
    { piece: 3, new: true }, { piece: 4, new: false }, { piece: 5, new: false },
    { piece: 6, new: false },
  ]);
  assert.ok(changedRow(target, target, 48).every((part) => "piece" in part && !part.new));
  assert.equal(changedRow(target, target, 3).length, 4);
  const { plain, ...counts } = changedWords(target, after.target);
  assert.deepEqual([counts, plain], [{ lost: 1, new: 1 }, true]);
});

test("the places of an order stand with their log P and the random heads beside", () => {
  const place: HeadPlace = ["cross", 1, 0];
  const heads = [{ place, logProb: -3, text: "Hund." }];
  const [first] = brokenOf({ heads, random: [] }, trace, [after]).places;
  assert.deepEqual([first.log_p, first.control, first.written.at(-1)], [-5, null, "</s>"]);
  const random = [{ place, logProb: -1, text: target.text }];
  const [{ control }] = brokenOf({ heads, random }, trace, [trace]).places;
  assert.deepEqual([control?.middle, control?.same], [-3, true]);
});

test("a painted row is even over what it may see, and the last one of a row counts", () => {
  const place: HeadPlace = ["decoder_self", 0, 1];
  assert.deepEqual(evenRow(place, 1, [0, 1, 2], 4, true)?.weights, [0.5, 0.5, 0, 0]);
  assert.deepEqual(evenRow(place, 1, [3], 4, false)?.weights, [0, 0, 0, 1]);
  assert.equal(evenRow(place, 1, [2], 4, true), null);
  const rows = [0, 0, 2].map((row, n) => ({ place, row, weights: [n] }));
  const merged = rows.reduce(withRow, [] as typeof rows);
  assert.deepEqual(merged.map(({ weights }) => weights), [[1], [2]]);
});

test("a link is read with the heads that the model has, and a sentence names the others", () => {
  const kinds = [{ kind: "cross", layers: 2, heads: 3 } as KindTrace];
  const link = readLink("?text=Hi&from=de&head=cross-2-3&removed=cross-1-1,cross-1-4,x,cross-1-1",
    kinds);
  assert.deepEqual(link.head, ["cross", 1, 2]);
  assert.deepEqual(link.removed, [["cross", 0, 0]]);
  assert.deepEqual([link.text, link.from], ["Hi", "de"]);
  assert.match(link.problem, /cross-1-4, x\./);
  const long = readLink(`?text=${"a".repeat(2001)}&head=cross-0-1`, kinds);
  assert.deepEqual([long.text, long.head, long.removed], ["", null, []]);
  assert.match(long.problem, /2,001/);
  assert.equal(readLink("", kinds).problem, "");
});

test("the language of a text is told where common words of one alone are in it", () => {
  const common = { en: ["the", "is", "don't"], de: ["der", "ist"] };
  assert.equal(likelyLanguage("DER Hund ist da.", common), "de");
  assert.equal(likelyLanguage("I don't know", common), "en");
  assert.equal(likelyLanguage("der the", common), "");
  assert.equal(likelyLanguage("", common), "");
});
