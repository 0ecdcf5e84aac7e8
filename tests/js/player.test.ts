// How fast a player writes a sentence, and the row of a model without some heads.

import assert from "node:assert/strict";
import { test } from "node:test";
import { BreakIt } from "../../viz/browser/player/break_it.ts";
import {
  type KindData, paceOf, planPlayer, type PlayerData,
} from "../../viz/browser/player/plan.ts";
import { Tasks } from "../../viz/browser/live/tasks.ts";
import { Player } from "../../viz/browser/player/view.ts";
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

test("the words use the room that the next subwords leave, and shrink before they scroll", () => {
  const words = ["<s>", "one", "two", "three", "four", "five", "six", "seven"];
  const data: any = { source: words, written: words, steps: [{}], training: [] };
  const [beside, alone, narrow] = [[900, true], [900, false], [290, false]].map(([width, aside]) =>
    planPlayer(data, width as number, measure, undefined, aside as boolean));
  assert.ok(beside.bars?.beside && !alone.bars);
  assert.ok(alone.width > beside.width + 200 && alone.width <= 900);
  assert.ok(narrow.width === 290 && narrow.font < 15);
});

test("a step is told once its word stands in the picture", () => {
  const kind = { kind: "cross", name: "cross-attention", layers: 1, heads: 1, size: [2, 2],
    whole: [2, 2], weights: Float32Array.of(1, 0, 0, 1) };
  const data = { source: ["a", "b"], written: ["<s>", "x", "y"], training: [], links: [] };
  const said = (part: number) => viewOf(Player, {
    data, kind, selected: { cross: { kind: "cross", layer: 0, head: 0 } }, step: 1, part, timer: 1,
    ribbons: "head", tiles: { pointed: null }, pointer: { word: null, ribbon: null },
    breaking: { removed: [] },
  } as any).sentence();
  assert.match(said(0.2), /x/);
  assert.match(said(0.9), /y/);
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

test("a translation without heads is told by the words that it lost and has new", () => {
  const sideOf = (pieces: string[]) =>
    ({ text: pieces.join(" "), pieces: [...pieces, "</s>"], words: [...pieces.keys(), 9] });
  const control = { log_p: [-1, -9, -2, -3, -1.5], same: true };
  const breaking = viewOf(BreakIt, {
    isOpen: true, shown: 1, data: null, draw() {}, step() {}, player: { changed() {} },
  });
  const [head, size] = [{ kind: "cross", layer: 0, head: 1 }, [1, 1]];
  const place = { head, log_p: -7, target: sideOf(["▁x", "▁z"]), control,
    maps: [{ kind: "cross", weights: Uint16Array.of(65535), size }] };
  const sent = { target: sideOf(["▁x", "▁y"]), total: 24, log_p: -1, note: "", places: [place] };
  for (const maps of [place.maps, null]) { // the player has them the second time
    breaking.follow({ ...sent, places: [{ ...place, maps }] } as any);
    const { now } = breaking;
    assert.deepEqual(now?.written, ["<s>", "x", "z", "</s>"]);
    assert.deepEqual(now?.row, [{ piece: 0, new: false }, { piece: 1, new: false }, { text: "y" },
      { piece: 2, new: true }, { piece: 3, new: false }]);
    assert.deepEqual(now?.changes, { lost: 1, new: 1, moved: 0, plain: true });
    assert.equal(now?.maps?.[0].weights[0], 1);
    assert.deepEqual(now?.maps?.[0].whole, size);
    const [, [, random]] = breaking.lines(breaking.data, breaking.places).slice(1);
    assert.match(String(random), /middle of 5 draws: log P −9.00 to −1.00/);
    assert.match(String(random), /it is 2.7 times less probable; no word changes/);
  }
});

test("a picture that plays by itself ends where a reader acts, but not at each letter", (t) => {
  class Element {
    declare id: string;
    constructor(id: string) { this.id = id; }
    matches(selector: string) { return selector.split(", ").includes(this.id); }
  }
  t.after(() => delete (globalThis as any).Element);
  (globalThis as any).Element = Element;
  const gone: number[] = [];
  const go = (step: number) => gone.push(step);
  const player = viewOf(Player, { isUnasked: true, root: {}, go });
  Object.defineProperty(player, "last", { value: 7 });
  const act = (type: string, ...path: unknown[]) =>
    player.stop({ type, composedPath: () => path } as unknown as Event);
  for (const field of ["#text", ".st-key-text"]) act("keydown", new Element(field));
  act("keydown", new Element("button"), player.root);
  assert.deepEqual(gone, []);
  act("keydown", new Element("button"));
  act("pointerdown", new Element("#text"));
  assert.deepEqual(gone, [7, 7]);
  player.isUnasked = false;
  act("keydown", new Element("button"));
  assert.equal(gone.length, 2);
});

test("a picture is drawn while its words move, and waits while another is computed", (t) => {
  let frame = (_now: number) => {};
  const stopped: number[] = [];
  const names = ["requestAnimationFrame", "cancelAnimationFrame"];
  Object.assign(globalThis, {
    requestAnimationFrame: (act: typeof frame) => {
      frame = act;
      return 7;
    },
    cancelAnimationFrame: (timer: number) => stopped.push(timer),
  });
  t.after(() => names.forEach((name) => delete (globalThis as any)[name]));
  const drawn: number[] = [];
  const [data, kind] = lasting(3); // a step takes 900 ms
  const player = viewOf(Player, {
    data, kind, step: 0, part: 0, isUnasked: false, timer: 0, plan: { width: 1, room: 1 },
    play: {}, says: { setAttribute() {} }, breaking: { end() {} },
  } as any);
  const begun = performance.now();
  player.start();
  for (const ms of [100, 600, 700, 850, 1000]) {
    player.draw = () => drawn.push(ms);
    frame(begun + ms);
  }
  assert.deepEqual(drawn, [100, 600, 1000]);
  player.plan.width = 2; // its line scrolls on
  for (const ms of [1700, 1720]) frame(begun + ms);
  assert.equal(drawn.length, 5);
  player.wait();
  assert.deepEqual([stopped, player.timer, player.isUnasked], [[7], 0, true]); // show() starts it
  player.isUnasked = false; // one that a reader has paused stays so
  player.wait();
  assert.deepEqual([stopped, player.isUnasked], [[7], false]);
});

test("a picture plays once all others are drawn", async (t) => {
  const tasks = new Tasks();
  t.after(() => tasks.channel.port1.close());
  const done: string[] = [];
  const drawn = () => void done.push("drawn");
  const player = viewOf(Player, { isUnasked: true, timer: 0, update() {}, layOut: drawn,
    start: () => void done.push("plays") });
  tasks.later(() => player.show({} as PlayerData, { later: tasks.later }));
  tasks.later(() => void done.push("all"));
  while (tasks.isCalled) await new Promise((resolve) => setTimeout(resolve, 1));
  assert.deepEqual(done, ["drawn", "all", "plays"]);
});
