// The model's folder comes over a network that breaks, and through a cache that is damaged.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { Session } from "../../viz/browser/engine/session.ts";
import type { Answer, Request, Translate } from "../../viz/browser/engine/messages.ts";
import { tinyCheckpoint, write } from "./engine_folder.ts";

const BASE = "https://host.example/model";
const FILES = write(tinyCheckpoint(), "one", 1000);

let files: Map<string, Uint8Array>;
let fetched: string[]; // names of files
let cut: (name: string) => boolean; // whether a connection ends half-way
let stores: Map<string, Map<string, Uint8Array>>; // the browser's Cache, by name

Object.assign(globalThis, {
  fetch: async (address: string, { cache }: RequestInit) => {
    assert.equal(cache, "no-store"); // else a browser keeps all parts twice
    const name = address.slice(BASE.length + 1);
    fetched.push(name);
    const content = files.get(name);
    if (!content) return new Response("", { status: 404 });
    if (!cut(name)) return new Response(content.slice());
    return new Response(new ReadableStream({
      start: (stream) => stream.enqueue(content.slice(0, content.length / 2)),
      pull: (stream) => stream.error(new TypeError("network error")),
    }));
  },
  caches: {
    keys: async () => [...stores.keys()],
    delete: async (name: string) => stores.delete(name),
    open: async (name: string) => {
      if (!stores.has(name)) stores.set(name, new Map());
      const store = stores.get(name) as Map<string, Uint8Array>;
      return {
        match: async (address: string) => store.has(address)
          ? new Response(store.get(address)!.slice()) : undefined,
        put: async (address: string, response: Response) =>
          store.set(address, new Uint8Array(await response.arrayBuffer())),
        delete: async (address: string) => store.delete(address),
      };
    },
  },
});

beforeEach(() => {
  [files, fetched, cut, stores] = [new Map(FILES), [], () => false, new Map()];
});

const sessions: Session[] = []; // each holds the process until it is closed

afterEach(() => sessions.splice(0).forEach((session) => session.close()));

/** A page: what it hears, and a way to ask. */
function page() {
  const heard: Answer[] = [];
  const session = new Session((answer, transfer) => {
    heard.push(structuredClone(answer, { transfer })); // as a Worker does
  });
  sessions.push(session);
  return {
    heard,
    last: () => heard[heard.length - 1] as any,
    ask: (request: Partial<Request>) => session.receive(request as Request),
    load: (more = {}) => session.receive({ type: "load", base: `${BASE}/`, ...more }),
  };
}

const asked = (turn: number, changes: Partial<Translate> = {}): Translate => ({
  type: "translate", turn, text: "abc", removed: [], rows: [], prefix: [], ...changes,
});

const names = (set: string) => [...FILES.keys()].filter((name) => name.startsWith(set));

test("a first visit fetches all parts, a second one the description alone", async () => {
  const first = page();
  await first.load();
  assert.deepEqual(first.last(), { type: "live", wasm: true });
  const parts = [...names("weights"), ...names("tokenizer")];
  assert.ok(parts.length > 8);
  assert.deepEqual(fetched, ["model.json", ...parts]);
  const steps = first.heard.filter(({ type }) => type === "progress") as any[];
  const total = parts.reduce((sum, name) => sum + FILES.get(name)!.length, 0);
  assert.ok(steps.every((step, n) => step.total === total
    && step.loaded >= (steps[n - 1]?.loaded ?? 0)));
  assert.equal(steps[steps.length - 1].loaded, total);
  await first.ask(asked(1));
  const second = page();
  [fetched] = [[]];
  await second.load();
  assert.deepEqual(fetched, ["model.json"]);
  await second.ask(asked(1));
  assert.deepEqual(second.last().trace, first.last().trace);
});

test("asked twice, a model is loaded once, and of two models the last", async () => {
  const { load, heard } = page();
  await Promise.all([load(), load()]);
  assert.equal(fetched.filter((name) => name === "model.json").length, 1);
  assert.equal(heard.filter(({ type }) => type === "live").length, 1);
  stores.clear();
  await Promise.all([load({ int8: true }), load()]);
  assert.equal(heard.filter(({ type }) => type === "live").length, 2);
});

test("another model at the same address does not leave the earlier one behind", async () => {
  for (const name of ["one", "two"]) {
    files = write(tinyCheckpoint(), name, 1000);
    const { load } = page();
    await load();
  }
  assert.deepEqual([...stores.keys()], [`headlight ${BASE} two`]);
});

test("a damaged part of the cache is fetched once more, and kept whole", async () => {
  const [name] = names("weights-4-3");
  const { load, last } = page();
  await load();
  const store = [...stores.values()][0];
  const address = `${BASE}/${name}`;
  for (const damage of [(bytes: Uint8Array) => bytes.slice(0, 40), (bytes: Uint8Array) =>
    bytes.map((byte, n) => (n === bytes.length >> 1 ? byte ^ 255 : byte))]) {
    store.set(address, damage(FILES.get(name)!));
    fetched = [];
    const again = page();
    await again.load();
    assert.equal(again.last().type, "live");
    assert.deepEqual(fetched, ["model.json", name]);
    assert.deepEqual(store.get(address), new Uint8Array(FILES.get(name)!));
  }
  assert.equal(last().type, "live");
});

test("a cut connection says how far it came, and goes on from there", async () => {
  const broken = names("weights")[5];
  cut = (name) => name === broken;
  const { load, last, ask } = page();
  await load();
  assert.match(last().message, /came as far as 0\.0 of 0\.0 MB/);
  assert.deepEqual([last().type, last().turn], ["failed", null]);
  assert.deepEqual(fetched.slice(-2), [broken, broken]); // tried twice
  await ask(asked(1));
  assert.match(last().message, /not loaded yet/);
  cut = () => false;
  fetched = [];
  stores.clear(); // also without the browser's Cache
  await load();
  assert.equal(last().type, "live");
  assert.deepEqual(fetched, [...names("weights").slice(5), ...names("tokenizer")]);
});

test("a browser without a cache and a host without the folder", async () => {
  const { caches } = globalThis;
  Object.assign(globalThis, { caches: undefined });
  const { load, last } = page();
  await load();
  assert.equal(last().type, "live");
  Object.assign(globalThis, { caches });
  files.delete(names("weights")[2]);
  const partless = page();
  await partless.load();
  assert.match(partless.last().message, /weights-4-.*cannot be fetched \(404\)/);
  files.set("model.json", new TextEncoder().encode("<html>"));
  const nonsense = page();
  await nonsense.load();
  assert.match(nonsense.last().message, /model\.json is damaged/);
  files.clear();
  const empty = page();
  await empty.load();
  assert.match(empty.last().message, /model\.json cannot be fetched/);
});

test("the smaller weights are nearly the same", async () => {
  const [whole, small] = [page(), page()];
  await whole.load();
  fetched = [];
  await small.load({ int8: true });
  assert.deepEqual(fetched.slice(1), names("int8")); // the tokenizer is there
  const bytes = (set: string) =>
    names(set).reduce((sum, name) => sum + FILES.get(name)!.length, 0);
  assert.ok(bytes("int8") < 0.6 * bytes("weights"));
  const weights: Float32Array[] = [];
  for (const { ask, last } of [whole, small]) {
    await ask(asked(1, { prefix: ["a"] }));
    weights.push(last().trace.kinds[0].weights);
  }
  const apart = weights[0].map((weight, n) => Math.abs(weight - weights[1][n]));
  assert.ok(Math.max(...apart) < 0.05);
  assert.ok(Math.max(...apart) > 1e-6);
});

test("a sentence can be asked for again once its maps are handed over", async () => {
  const { load, ask, heard, last } = page();
  await load();
  await ask(asked(1));
  const first = last().trace;
  await ask(asked(2));
  assert.deepEqual(last().trace, first);
  await ask(asked(3, { rows: [{ place: ["encoder_self", 0, 1], row: 1, weights: [1] }] }));
  const { trace } = heard.find((answer: any) => answer.trace && answer.turn === 3) as any;
  assert.equal(trace.kinds[0].weights.length, first.kinds[0].weights.length);
  await ask({ type: "order", turn: 4, text: "abc", length: 2, seed: 1 });
  assert.deepEqual([last().turn, last().done], [4, true]);
});

test("a newer request ends an older one, and a broken one is answered", async () => {
  const { load, ask, heard, last } = page();
  await load();
  heard.length = 0;
  const long = "abcdefgh".repeat(20);
  const requests: Request[] = [asked(1, { text: long }), asked(2, { text: long }),
    { type: "order", turn: 3, text: "abc", length: 5, seed: 1 }, asked(4)];
  await Promise.all(requests.map(ask));
  assert.deepEqual([...new Set(heard.map((answer: any) => answer.turn))], [4]);
  heard.length = 0;
  await ask(asked(7, { text: long })); // the page hears how far it is
  const counts = heard.filter(({ type }: any) => type === "writing").map(({ count }: any) => count);
  assert.ok(counts.length > 1 && counts.every((count, n) => !n || count > counts[n - 1]));
  await ask(asked(5, { text: "\ud800" }));
  assert.deepEqual([last().type, last().turn], ["failed", 5]);
  await ask(asked(6, { text: " " }));
  assert.deepEqual(last(), { type: "nothing", turn: 6 });
});

test("an order goes on after a translation of its sentence, until another one comes", async () => {
  const { load, ask, heard, last } = page();
  await load();
  const order = (turn: number, seed = 1): Request =>
    ({ type: "order", turn, text: "abc", length: 5, seed });
  await Promise.all([ask(order(1)), ask(asked(2))]);
  assert.deepEqual([last().type, last().turn, last().done], ["ordered", 1, true]);
  const turns = heard.slice(-20).map(({ turn }: any) => turn);
  assert.ok(turns.lastIndexOf(2) < turns.lastIndexOf(1));
  // asked for again while it runs, it takes the later turn
  const push = heard.push.bind(heard);
  heard.push = (answer: any) => {
    if (answer.type === "translated") ask(order(5, 2));
    return push(answer);
  };
  await Promise.all([ask(order(3, 2)), ask(asked(4))]);
  heard.push = push;
  assert.deepEqual([last().type, last().turn, last().done], ["ordered", 5, true]);
  // another sentence ends it
  await Promise.all([ask(order(6, 3)), ask(asked(7, { text: "cab" }))]);
  assert.deepEqual([last().type, last().turn], ["translated", 7]);
});
