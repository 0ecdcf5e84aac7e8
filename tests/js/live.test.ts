// What a live page works out without a browser: changed words, painted rows, its address.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import test from "node:test";
import { readLink, writeLink } from "../../viz/browser/live/address.ts";
import { Breaking, firstOf, PLACES, withFirst } from "../../viz/browser/live/breaking.ts";
import { evenRows, rowText, withRow } from "../../viz/browser/live/editing.ts";
import { figuresOf } from "../../viz/browser/live/figures.ts";
import { LivePage } from "../../viz/browser/live/page.ts";
import { hold } from "../../viz/browser/live/held.ts";
import { likelyLanguage } from "../../viz/browser/live/language.ts";
import { LiveSentence } from "../../viz/browser/live/sentence.ts";
import { Tasks } from "../../viz/browser/live/tasks.ts";
import type { HeadPlace, KindTrace, Side, Trace } from "../../viz/browser/core/trace.ts";
import { timesOf } from "../../viz/browser/player/break_it.ts";
import { changedRow, changedWords, compared } from "../../viz/browser/player/changes.ts";
import { viewOf } from "./samples.ts";

const target = {
  text: "Der Hund läuft.", pieces: ["▁Der", "▁Hu", "nd", "▁läuft", ".", "</s>"],
  words: [0, 1, 1, 2, 3, 4],
};
const trace = {
  source: target, target, kinds: [], options: [], beginnings: [],
  logProbs: Float32Array.of(-1, -0.5, -0.5, 0, 0, 0), edited: { removed: [], rows: [], prefix: 0 },
} satisfies Trace;

test("the same words, lost ones and new ones are those of Python's difflib", () => {
  const cases = JSON.parse(readFileSync(new URL("changed_words.json", import.meta.url), "utf8"));
  for (const [before, now, parts] of cases) {
    assert.deepEqual(compared(now, before).map(({ text, change }) => [change, text]), parts);
  }
  assert.ok(cases.length > 100);
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
  assert.deepEqual([counts, plain], [{ lost: 1, new: 1, moved: 0 }, true]);
  const turned = {
    ...target, pieces: ["▁läuft", "▁Der", "▁Hu", "nd", ".", "</s>"], words: [0, 1, 2, 2, 3, 4],
  };
  assert.deepEqual(changedWords(target, turned), { lost: 0, new: 0, moved: 1, plain: false });
  assert.ok(changedRow(target, turned, 48).every((part) => "piece" in part && !part.new));
});

test("words that differ are counted, and a single one of many is overlooked", () => {
  const sideOf = (text: string): Side => {
    const pieces = text.match(/\w|[.!]/g) ?? [];
    return { text, pieces: pieces.map((word) => `▁${word}`), words: [...pieces.keys()] };
  };
  const cases: [before: string, after: string, changes: (number | boolean)[]][] = [
    ["a b c d e f.", "a b c d e f.", [0, 0, 0, false]],
    ["a b c d e f.", "a b c d e g.", [1, 1, 0, false]],
    ["a b c d e f.", "a b c d e f!", [0, 0, 0, false]],
    ["a b c d e.", "a b c d g.", [1, 1, 0, true]],
    ["a b c.", "a b c c.", [0, 1, 0, true]],
    ["a.", ".", [1, 0, 0, true]],
    ["a b c.", "c a b.", [0, 0, 1, false]], // it only moved
  ];
  for (const [before, now, [lost, added, moved, plain]] of cases) {
    const changes = changedWords(sideOf(before), sideOf(now));
    assert.deepEqual(changes, { lost, new: added, moved, plain }, `${before} → ${now}`);
  }
});

const heads = Array.from({ length: PLACES + 2 }, (_, head): HeadPlace => ["cross", 0, head]);

test("Break it takes the first heads of an order, and leaves what is removed beside them", () => {
  const [a, b, c, other] = heads;
  assert.deepEqual(withFirst([a, b, c], [other, c], 2), [other, a, b]);
  assert.deepEqual(withFirst([a, b, c], [other, a, b], 0), [other]);
  assert.deepEqual([[a, b], [b], [other, b, a], [a, b, c]].map((removed) =>
    firstOf([a, b, c], removed)), [2, 0, 2, 3]);
  assert.equal(firstOf([], [a]), 0);
});

test("heads leave as they are known, and a head that is given back by a click stays", () => {
  Object.assign(globalThis, { window: globalThis });
  const [a, b, other, c] = heads;
  const shown = { ...trace, kinds: [{ kind: "cross", layers: 1, heads: 9 } as KindTrace] };
  const asks: string[] = [];
  const sentence: any = {
    asked: null, edits: { removed: [other] }, whole: shown, shown,
    order: () => asks.push(sentence.asked = "order"),
    edit: (edits: any) => {
      sentence.edits = edits;
      asks.push(sentence.asked = "translate");
    },
  };
  const breaking: Breaking = viewOf(Breaking as any, {
    sentence, answer: null, wanted: null, removes: 0, since: -Infinity, plays: false, timer: 0,
    open: {}, line: {}, slider: {}, count: {}, why: {},
  });
  const hear = (...places: HeadPlace[]) => breaking.hear({
    type: "ordered", turn: 1, heads: places.map((place) => ({ place, logProb: -1 })), done: false,
    random: [{ place: other, logProb: -2, text: "x" }], tried: [0, 0],
  });
  const answered = () => {
    sentence.asked = null;
    breaking.follow();
  };
  breaking.remove(2);
  assert.deepEqual(asks, ["order"]);
  assert.match(breaking.count.textContent as string, /head 1 of 9/);
  hear(a);
  assert.deepEqual(sentence.edits.removed, [other, a]);
  hear(a, b); // it was on its way
  assert.deepEqual(asks, ["order", "translate"]);
  answered();
  assert.deepEqual(sentence.edits.removed, [other, a, b]);
  answered();
  assert.deepEqual(asks, ["order", "translate", "translate", "order"]);
  assert.match(breaking.count.textContent as string, /2 of 9/);
  assert.equal(breaking.random(), null); // another one is removed, too
  sentence.edits = { removed: [b] }; // by clicks
  answered();
  assert.deepEqual([sentence.edits.removed, breaking.wanted], [[b], 1]);
  assert.match(breaking.count.textContent as string, /1 of 9/);
  breaking.remove(0);
  assert.deepEqual(sentence.edits.removed, []);
  answered();
  breaking.remove(1);
  assert.deepEqual(sentence.edits.removed, [a]);
  assert.equal(breaking.random()?.logProb, -2);
  // heads that are found soon after each other are removed together
  answered();
  breaking.remove(3);
  hear(a, b);
  assert.deepEqual(sentence.edits.removed, [a]);
  hear(a, b, c);
  assert.deepEqual(sentence.edits.removed, [a, b, c]);
});

test("a drawing is ended by the next one, and what a task adds comes right after it", async () => {
  const tasks = new Tasks();
  const done: string[] = [];
  const add = (name: string, ...more: string[]) => tasks.later(() => {
    done.push(name);
    more.forEach((other) => add(other));
    queueMicrotask(() => done.push("rest")); // after the whole task
    for (const ends = performance.now() + (name === "slow" ? 9 : 0); performance.now() < ends;);
  });
  const over = async () => {
    while (tasks.isCalled) await new Promise((resolve) => setTimeout(resolve, 1));
    return done.splice(0);
  };
  add("slow");
  add("grid", "slow", "decoder");
  add("map");
  assert.deepEqual(done, []);
  const parts = (await over()).join(" ").split(" rest");
  assert.equal(parts[0], "slow"); // what comes after 8 ms is another task
  assert.equal(parts.join(""), "slow grid slow decoder map");
  add("old"); // a picture may draw by itself when all is over, as in another theme
  tasks.later(() => (tasks.queue = []));
  add("older");
  assert.deepEqual(await over(), ["old", "rest"]);
  tasks.channel.port1.close();
});

test("a long translation is stopped, and what stands there of the sentence stays", () => {
  const [asks, said]: [any[], string[]] = [[], []];
  const edited = { removed: heads.slice(0, 1), rows: [], prefix: 2 };
  const sentence: any = viewOf(LiveSentence as any, {
    asked: "translate", turn: 7, slow: 0, edits: { ...edited, prefix: [] }, field: {
      value: target.text, focus: () => {},
    },
    shown: { ...trace, edited }, engine: { ask: (request: any) => asks.push(request) },
    show: (shown: Trace) => said.push(shown.target.text), warn: (text: string) => said.push(text),
    refuse: (text: string) => said.push(`refused: ${text}`),
  });
  sentence.stop();
  assert.deepEqual([asks[0].type, asks[0].text, asks[0].turn], ["translate", "", 7]);
  assert.deepEqual([sentence.asked, sentence.turn], [null, 8]); // what still comes is of another
  assert.deepEqual(sentence.edits, { ...edited, prefix: ["▁Der", "▁Hu"] });
  assert.deepEqual(said.splice(0), [target.text, "Stopped."]);
  sentence.hear({ type: "translated", turn: 7, trace, unsure: false });
  sentence.stop(); // nothing is on its way
  assert.deepEqual([asks.length, said], [1, []]);
  Object.assign(sentence, { asked: "translate", field: { value: "Another one.", focus() {} } });
  sentence.stop();
  assert.deepEqual(said, ["refused: Stopped."]);
  // of edits that cannot be had, what the link could not name stays named, too
  const asked = viewOf(LiveSentence as any, {
    whole: trace, field: { value: target.text }, note: "No head x.", ask() {},
    edits: { removed: [], rows: [{}], prefix: [] },
  }) as any;
  asked.refuse("No row 9.");
  assert.match(asked.note, /^No head x\. No row 9\. .*left out/);
});

test("a sentence that is turned round and back before it is translated is not lost", () => {
  const gone: string[] = [];
  const sentence: any = viewOf(LiveSentence as any, {
    left: [], direction: 0, field: { value: target.text, focus() {} }, whole: trace,
    data: { directions: [{ examples: [{ text: "An example." }] }, { examples: [] }] },
    go(direction: number, text: string) {
      Object.assign(sentence, { direction, whole: null });
      gone.push(sentence.field.value = text);
    },
  });
  sentence.field.value = "My own sentence."; // of which `whole` is not
  for (let turns = 0; turns < 3; turns++) sentence.turnRound();
  assert.deepEqual(gone, ["", "My own sentence.", ""]);
  Object.assign(sentence, { direction: 0, whole: trace });
  sentence.field.value = target.text;
  sentence.turnRound();
  sentence.turnRound("Typed in the other language.");
  assert.deepEqual(gone.slice(3), [target.text, "Typed in the other language."]);
});

test("log P and words say what edits cost, beside as many random heads", () => {
  const removed = { ...after, edited: { ...after.edited, removed: heads.slice(0, 2) } };
  const [[figure, rest], ...others] = figuresOf(trace, removed, -4.3, null);
  assert.match(figure, /−2\.00 → −4\.30/);
  assert.match(rest, /2 heads, 10 times less probable; 1 word lost, 1 new/);
  assert.deepEqual(others, []);
  assert.match(figuresOf(trace, removed, null, null)[0][0], /−2\.00 → …/);
  const random = { logProb: -0.5, text: target.text };
  const [, [drawn, same]] = figuresOf(trace, removed, -4.3, random);
  assert.match(drawn + same, /−2\.00 → −2\.50: without 2 random heads instead; no word changes/);
  const painted = { ...removed, edited: { ...removed.edited, rows: [{} as any] } };
  assert.match(figuresOf(trace, painted, -4.3, random)[0][1], /2 heads and with 1 painted row/);
  assert.equal(figuresOf(trace, painted, -4.3, random).length, 1); // they are not painted
  const chosen = { ...after, edited: { ...after.edited, prefix: 2 } };
  const [line] = figuresOf(trace, chosen, null, null);
  assert.match(line.join(""), /−2\.00 → −2\.00: .*chose; 1 word/);
  // a head that is removed after the choice: the words are those of both
  const both = { ...chosen, edited: { ...chosen.edited, removed: heads.slice(0, 1) } };
  const [[, left], [, begun]] = figuresOf(trace, both, -4.3, null);
  assert.match(left, /this head, 10 times less probable\.$/);
  assert.match(begun, /chose; 1 word/);
  assert.deepEqual(figuresOf(trace, trace, null, null), []);
});

test("a chip names the row that is painted by its word, and what it looks at", () => {
  const weights = [0, 0, 0, 1, 0, 0];
  const text = rowText({ place: ["cross", 1, 2], row: 1, weights }, trace);
  assert.match(text.replace(/[\u2068\u2069]/g, ""), /L2 H3.*“Hu”.*“läuft”$/);
});

test("however improbable a translation becomes, the factor is a word and no formula", () => {
  const factors = [2, 15, 22, 30, 900].map((nats) => timesOf(nats));
  ["7.4 times", "3.3 million", "3.6 billion", "trillion", "trillion"].forEach((words, n) =>
    assert.ok(factors[n].includes(words), factors[n]));
});

test("what was pressed stays where it is while the page above it grows", () => {
  const heard: Record<string, (event: any) => void> = {};
  let [above, scrolled] = [100, 0];
  let resized = () => {};
  const map: any = { isConnected: true, getBoundingClientRect: () => ({ top: above - scrolled }) };
  class Part {}
  const main = { style: { setProperty() {} }, contains: () => true };
  const now: any = {
    parentElement: main, contains: () => false, offsetHeight: 10,
    classList: { toggle() {} },
  };
  Object.assign(globalThis as any, {
    Element: Object, addEventListener: (name: string, act: any) => (heard[name] = act),
    window: {
      innerHeight: 500, scrollBy: ({ top }: any) => (scrolled += top),
      get scrollY() {
        return scrolled;
      },
    },
    ResizeObserver: class {
      constructor(act: () => void) {
        resized = act;
      }
      observe() {}
    },
  });
  hold(now, [new Part() as any]);
  const grow = (by: number) => {
    above += by;
    resized();
  };
  grow(40);
  assert.deepEqual([scrolled], [0]); // nothing was pressed
  heard.pointerdown({ target: map });
  grow(40);
  assert.deepEqual([scrolled], [40]);
  scrolled += 7; // by the reader
  grow(-25);
  assert.deepEqual([scrolled], [22]);
  heard.wheel({});
  grow(40);
  assert.deepEqual([scrolled], [22]);
});

test("a painted row is even over what it may see, and the last one of a row counts", () => {
  const place: HeadPlace = ["decoder_self", 0, 1];
  const rows = evenRows(place, [[0, 1], [1, 1], [2, 1], [2, 0]], 3, true); // 0 sees no 1
  assert.deepEqual(rows.map(({ row, weights }) => [row, weights]),
    [[1, [0, 1, 0]], [2, [0.5, 0.5, 0]]]);
  assert.deepEqual(evenRows(place, [[1, 3], [1, 4]], 4, false)[0].weights, [0, 0, 0, 1]);
  const twice = [0, 0, 2].map((row, n) => ({ place, row, weights: [n] }));
  const merged = twice.reduce(withRow, [] as typeof twice);
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
  // a blank one is none, and a sentence is one line
  assert.deepEqual(["%0A%20", "A%0D%0Adog"].map((name) => readLink(`?text=${name}`, kinds).text),
    ["", "A dog"]);
});

test("an address gives back every edit that was written into it, and each act an entry", () => {
  const kinds = [{ kind: "cross", layers: 2, heads: 9 } as KindTrace];
  const place: HeadPlace = ["cross", 1, 7];
  const link = {
    text: "Hi & bye", from: "en", head: place, removed: heads.slice(0, 3),
    rows: [{ place, row: 4, weights: [0.5, 0, 0.5] }, { place, row: 0, weights: [1] }],
    prefix: ["▁A,b", "▁&", "c"],
  };
  const entries = ["http://site/?step=3&docs=1"];
  const location = { get href() {
    return entries[entries.length - 1];
  } };
  const replaceState = (_: unknown, __: string, url: URL) => entries.splice(-1, 1, url.href);
  const pushState = (_: unknown, __: string, url: URL) => entries.push(url.href);
  Object.assign(globalThis, { window: { location }, history: { replaceState, pushState } });
  writeLink({ ...link, removed: [], rows: [], prefix: [] }, true); // the entry of the visit
  writeLink({ ...link, rows: [], prefix: [] }, false);
  writeLink({ ...link, rows: [], prefix: [], head: null }, false); // what is open is not an act
  writeLink(link, false);
  writeLink(link, false);
  assert.equal(entries.length, 3);
  const { problem, ...read } = readLink(new URL(entries[2]).search, kinds);
  assert.deepEqual(read, link);
  assert.equal(problem, "");
  assert.ok(entries[2].includes("docs=1") && entries[2].includes("step=3"));
  writeLink({ ...link, text: "x" }, true);
  assert.ok(entries.length === 3 && !entries[2].includes("step=3"));
  // what was shown is kept although the field is further, with its own edits
  const shown = { ...trace, edited: { removed: heads.slice(0, 1), rows: [], prefix: 2 } };
  const sentence = viewOf(LiveSentence as any, {
    shown, field: { value: "Der Hu" }, edits: { removed: [], rows: [], prefix: [] },
    data: { directions: [{ about: { languages: [{ code: "de" }] } }] }, direction: 0,
  });
  Object.assign((globalThis as any).window, { clearTimeout() {} });
  const page = viewOf(LivePage as any, {
    sentence, rest: 1, resting: "", open: place, breaking: {}, written: { replaces: false },
  }) as any;
  Object.assign(globalThis, { document: { activeElement: (sentence as any).field } });
  page.onAct("typing");
  assert.equal(page.act, "typing");
  page.onAct(""); // the language is turned, which goes back to the field
  assert.equal(page.act, "");
  const kept = readLink(new URL(entries[3]).search, kinds);
  assert.deepEqual([kept.text, kept.removed, kept.prefix],
    [target.text, heads.slice(0, 1), ["▁Der", "▁Hu"]]);
});

test("rows of a link that cannot be are left out, and the rest stays", () => {
  const kinds = [{ kind: "cross", layers: 2, heads: 3 } as KindTrace];
  const bad = ["cross-1-1-1-0", "cross-1-1-0-1", "cross-3-1-1-1", "cross-1-1-1-",
    "cross-1-1-1-9999", "cross-1-1", "../x"];
  for (const name of bad) {
    const link = readLink(`?removed=cross-1-2&rows=${name},cross-2-3-1-2`, kinds);
    assert.deepEqual(link.rows, [{ place: ["cross", 1, 2], row: 0, weights: [0, 1] }], name);
    assert.deepEqual(link.removed, [["cross", 0, 1]]);
    assert.match(link.problem, /left out/);
  }
});

test("no script looks behind in a text: Safari before 16.4 would not read it", () => {
  const root = new URL("../../viz/browser/", import.meta.url);
  const files = readdirSync(root, { recursive: true }).map(String)
    .filter((name) => name.endsWith(".ts"));
  assert.ok(files.length > 50);
  for (const name of files) {
    assert.doesNotMatch(readFileSync(new URL(name, root), "utf8"), /\(\?<[=!]/, name);
  }
});

test("the language of a text is told where common words of one alone are in it", () => {
  const common = { en: ["the", "is", "don't"], de: ["der", "ist"] };
  assert.equal(likelyLanguage("DER Hund ist da.", common), "de");
  assert.equal(likelyLanguage("I don't know", common), "en");
  assert.equal(likelyLanguage("der the", common), "");
  assert.equal(likelyLanguage("", common), "");
});
