import assert from "node:assert/strict";
import { test } from "node:test";
import { caretAfter } from "../../viz/browser/translation_editor/field.ts";
import { beginningWith, step } from "../../viz/browser/translation_editor/popover.ts";
import {
  Exchange, statusOf, TABLE, TranslationEditor, wordRows,
} from "../../viz/browser/translation_editor/view.ts";
import {
  barOf, carried, difference, wordsOf,
} from "../../viz/browser/translation_editor/words.ts";
import { viewOf } from "./samples.ts";

const TEXT = "Zwei Hunde rennen.";
const piece = (raw: string, start: number, end: number, p: number) => ({
  raw, label: raw.replace("▁", ""), start, end, p, logProb: Math.log(p),
  others: [{ raw: `${raw}x`, label: `${raw}x`, p: 0.3 }],
});
const PIECES = [
  piece("▁Zwei", 0, 4, 0.5), piece("▁Hun", 5, 8, 0.5), piece("de", 8, 10, 0.25),
  piece("▁rennen", 11, 17, 1), piece(".", 17, 18, 1), piece("</s>", 18, 18, 0.9),
];
const WORDS = wordsOf(PIECES, [0, 1, 1, 2, 3, 4], 3);

test("a word is as probable as its pieces together, and forced with all of them", () => {
  assert.deepEqual(WORDS.map(({ start, end }) => TEXT.slice(start, end)),
    ["Zwei", "Hunde", "rennen", ".", ""]);
  assert.deepEqual(WORDS.map(({ p }) => Number(p.toFixed(6))), [0.5, 0.125, 1, 1, 0.9]);
  assert.deepEqual(WORDS.map(({ forced }) => forced), [true, true, false, false, false]);
  const data: any = { text: TEXT, words: WORDS, pieces: PIECES };
  viewOf(TranslationEditor, {
    known: data, exchange: {}, close() {}, options: {
      onSelect: (choice: any) =>
        assert.deepEqual(choice, { force: 2, alternative: 0, prefix: "▁Zwei▁Hundex" }),
    },
  }).take({ piece: 2, alternative: 0 });
  assert.deepEqual(TABLE, ["Word", "Probability", "Log probability", "Alternatives"]);
  assert.deepEqual(wordRows(data)[1],
    ["Hunde", "0.125", "−2.08", "for Hun: ▁Hunx 0.300; for de: dex 0.300"]);
  const [given, ...rest] = PIECES;
  const two = [{ raw: "A", label: "A", p: 0.2 }, { raw: "B", label: "B", p: 0.1 }];
  const known = { ...data, pieces: [{ ...given, others: two }, ...rest] };
  assert.equal(wordRows(known)[0][3], "for Zwei: A 0.200, B 0.100"); // less probable than it
  const alone = { ...data, pieces: [{ ...given, others: [] }, ...rest] };
  assert.equal(wordRows(alone)[0][3], "none");
  assert.deepEqual(wordRows(data)[4].slice(0, 2), ["end of the sentence", "0.900"]);
});

test("a translation under constraints is not called the model’s own", () => {
  const given: any = { byHand: false, forced: 0, constrained: true };
  assert.equal(statusOf(given, false),
    "The model’s translation under the constraints of the search.");
  assert.equal(statusOf({ ...given, constrained: false }, false), "The model’s own translation.");
  assert.equal(statusOf(given, true), "Your version.");
});

test("what was typed is never overwritten by what was found for an older text", () => {
  const exchange = new Exchange();
  const hear = (text: string, revision: number,
    now: string) => exchange.hear({ text, revision }, now);
  assert.equal(hear("A", 0, ""), "take");
  exchange.unsent = true;
  assert.equal(hear("other", 0, "AB"), "leave"); // a new translation while one types
  assert.equal(exchange.send(true), 1);
  assert.equal(hear("other", 0, "AB"), "leave"); // sent and not answered
  exchange.unsent = true;
  assert.equal(exchange.send(true), 2);
  assert.equal(hear("AB", 1, "ABC"), "leave"); // the answer to the text before
  assert.equal(exchange.ahead, true);
  assert.equal(hear("ABC", 2, "ABC"), "lay");
  assert.equal(exchange.ahead, false);
  assert.equal(hear("AB", 1, "ABC"), "leave"); // late
  assert.equal(hear("forced", 2, "ABC"), "take");
  assert.equal(hear("new session", 0, "forced"), "take");
  exchange.unsent = true;
  assert.equal(exchange.send(false), null); // typed and taken back
  assert.equal(exchange.ahead, false);
  exchange.unsent = true;
  assert.equal(exchange.send(true), 3); // numbers only grow
  exchange.unsent = true;
  assert.equal(exchange.send(false), 4); // what was sent before has still to be taken back
  const again = new Exchange(); // the page was left and is entered again
  assert.equal(again.hear({ text: "A", revision: 7 }, ""), "take");
  again.unsent = true;
  assert.equal(again.send(true), 8);
});

test("what was on its way to a server that has lost the session is sent once more", () => {
  const exchange = new Exchange();
  exchange.hear({ text: "A", revision: 2 }, "A");
  exchange.unsent = true;
  assert.equal(exchange.send(true), 3);
  assert.equal(exchange.hear({ text: "new session", revision: 0 }, "AB"), "leave");
  assert.equal(exchange.unsent, true);
  assert.equal(exchange.send(true), 4);
  assert.equal(exchange.hear({ text: "new session", revision: 0 }, "AB"), "leave");
  assert.equal(exchange.unsent, false); // once
  assert.equal(exchange.hear({ text: "AB", revision: 4 }, "AB"), "lay");
  assert.equal(exchange.ahead, false);
});

test("words before an edit keep their numbers, words behind it fade, touched ones go", () => {
  const left = (now: string) => carried(WORDS, TEXT, now).map(({ start, end, sure }) =>
    now.slice(start, end) + (sure ? "" : "?"));
  assert.deepEqual(left(TEXT), ["Zwei", "Hunde", "rennen", ".", ""]);
  assert.deepEqual(left("Zwei alte Hunde rennen."), ["Zwei", "Hunde?", "rennen?", ".?", "?"]);
  assert.deepEqual(left("Zwei Hunden rennen."), ["Zwei", "rennen?", ".?", "?"]);
  assert.deepEqual(left("Zwei unde rennen."), ["Zwei", "rennen?", ".?", "?"]);
  assert.deepEqual(left("Zwei Hunde rennen!"), ["Zwei", "Hunde", "rennen", "?"]);
  assert.deepEqual(left("Zwei Hunde"), ["Zwei", "Hunde", "?"]);
  assert.deepEqual(left(""), ["?"]);
  // two letters that share their first half are told apart as a whole
  assert.deepEqual(difference("a🐶b", "a🐱b"), { from: 1, until: 3, inserted: "🐱" });
  assert.deepEqual(difference("aa", "aaa"), { from: 2, until: 2, inserted: "a" });
});

test("the caret stays at its letter when a text of the server's comes in", () => {
  const change = difference("Ein Hund läuft.", "Ein Hündchen läuft.");
  assert.equal(caretAfter(3, change), 3);
  assert.equal(caretAfter(15, change), 19); // at the end still
  assert.equal(caretAfter(7, change), "Ein Hündchen".length); // its letter is gone
});

test("a bar runs through all lines of its word", () => {
  const box = (left: number, right: number,
    bottom: number) => ({ left, right, top: bottom - 20, bottom });
  const parts = barOf([box(80, 100, 20), box(0, 60, 68)], 0.5, false);
  assert.deepEqual(parts.map(({ x, width, start, filled }) => [x, width, start, filled]),
    [[80, 20, 80, 20], [0, 60, 0, 20]]);
  assert.ok(parts[0].y > 20 && parts[1].y > 68);
});

test("arrow keys go over the alternatives and the pieces of a word, and no further", () => {
  const rows = { first: 3, others: [Array(5), Array(2)] };
  const at = { piece: 3, alternative: 4 };
  assert.deepEqual(step(at, [1, 0], rows), { piece: 4, alternative: 1 });
  assert.deepEqual(step(at, [0, 1], rows), at);
  assert.deepEqual(step(at, [-1, 0], rows), at);
  assert.deepEqual(step(at, [1, 0], { first: 3, others: [Array(5), []] }), at);
});

test("a piece within a word is named with the letters before it", () => {
  const labelled = (raw: string, label: string) => ({ raw, label });
  const [before, end] = [[labelled("▁lauf", "lauf")], labelled("</s>", "</s>")];
  assert.equal(beginningWith(before, labelled("en", "·en")), "laufen");
  assert.equal(beginningWith(before, labelled("▁bald", "bald")), "lauf bald");
  assert.deepEqual([beginningWith(before, end), beginningWith([], before[0])], ["</s>", "lauf"]);
});
