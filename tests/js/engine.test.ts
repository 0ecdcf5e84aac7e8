// The engine on a tiny model. That it computes what Python computes is tested by test_engine.py.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { HeadPlace } from "../../viz/browser/core/trace.ts";
import { Edits } from "../../viz/browser/engine/edits.ts";
import { EOS } from "../../viz/browser/engine/folder.ts";
import { Kernel } from "../../viz/browser/engine/kernel.ts";
import type { Answer, Translate } from "../../viz/browser/engine/messages.ts";
import { allHeads, ForcedPass, Ordering, randomHeads } from "../../viz/browser/engine/order.ts";
import { chainOf, searching, type SearchResult } from "../../viz/browser/engine/search.ts";
import { Tokenizer } from "../../viz/browser/engine/tokenizer.ts";
import { engineOf, TINY, tinyCheckpoint, tokenizerOf } from "./engine_folder.ts";

const BPE = 2;

const asked = (changes: Partial<Translate> = {}): Translate => ({
  type: "translate", turn: 1, text: "abc", removed: [], rows: [], prefix: [], ...changes,
});

function last(steps: Iterable<Answer | null>): any {
  let answer: Answer | null = null;
  for (const step of steps) answer = step ?? answer;
  return answer;
}

const edited = (steps: Iterable<Answer | null>): any =>
  [...steps].find((answer) => answer?.type === "translated");

test("WebAssembly and JavaScript multiply alike, also where 4 does not divide a size", async () => {
  for (const [inputs, outputs] of [[8, 7], [6, 5]]) {
    const results: Float32Array[] = [];
    for (const plain of [false, true]) {
      const kernel = await Kernel.make(plain);
      assert.equal(kernel.wasm === null, plain);
      const [x, w] = [kernel.rows(5, inputs), kernel.rows(outputs, inputs)];
      const y = kernel.rows(5, outputs);
      for (let n = 0; n < 5 * inputs; n++) kernel.floats[x + n] = Math.sin(n);
      for (let n = 0; n < outputs * inputs; n++) kernel.floats[w + n] = Math.cos(n * n);
      kernel.take(2 ** 20); // the memory grows, and keeps what it holds
      kernel.linear(x, 5, { place: 4 * w, size: 4 }, inputs, outputs, y);
      results.push(kernel.floats.slice(y, y + 5 * outputs));
      let sum = 0;
      for (let k = 0; k < inputs; k++) sum += Math.sin(4 * inputs + k) * Math.cos(k * k);
      assert.ok(Math.abs(results[0][4 * outputs] - sum) < 1e-6);
    }
    results[0].forEach((value, n) => assert.ok(Math.abs(value - results[1][n]) < 1e-6));
  }
});

test("weights of bfloat16 take two bytes each, and give what they give as float32", async () => {
  const wide = tinyCheckpoint();
  wide.data.forEach((_, n) => {
    if (n % 4 < 2) wide.data[n] = 0; // as exact in both
  });
  let at = 0;
  const header = Object.fromEntries(Object.entries(wide.header).map(([name, { shape }]) => {
    const size = 2 * shape.reduce((a, b) => a * b, 1);
    return [name, { dtype: "BF16" as const, shape, data_offsets: [at, at += size] as any }];
  }));
  const data = Buffer.from(wide.data.filter((_, n) => n % 4 >= 2));
  const narrow = { ...wide, header, data };
  const engines = await Promise.all([engineOf(wide), engineOf(narrow), engineOf(narrow, true)]);
  const [whole, half, plain] = engines.map((engine) => last(engine.translate(asked())).trace);
  assert.deepEqual(half, whole);
  assert.equal(plain.target.text, whole.target.text); // without WebAssembly
  plain.kinds.forEach(({ weights }: any, n: number) => weights.forEach((value: number, k: number) =>
    assert.ok(Math.abs(value - whole.kinds[n].weights[k]) < 1e-5)));
  const [before, now] = engines.map((engine: any) => engine.model.start);
  const matrices = Object.values(header).filter(({ shape }) => shape.length > 1)
    .reduce((sum, { shape: [rows, width] }) => sum + rows * width, 0);
  assert.equal(before - now, 2 * matrices);
});

test("what dead beams looked at is dropped", async () => {
  const { model } = await engineOf(tinyCheckpoint());
  const steps = searching(model, [...new Array(60).fill(5), EOS]);
  let step = steps.next();
  while (!step.done) step = steps.next();
  const { prefixes, best } = step.value as SearchResult;
  const inUse = new Set(prefixes.filter(({ looks }) => looks));
  assert.ok(prefixes.length > 3 * best.length);
  assert.ok(inUse.size < best.length, `${inUse.size} of ${prefixes.length}`);
  assert.ok(chainOf(best).every(({ parent }) => parent?.looks && parent.options));
});

test("a removed head changes what is written, and its map stays", async () => {
  const engine = await engineOf(tinyCheckpoint());
  const whole = last(engine.translate(asked())).trace;
  const removed: HeadPlace[] = [["cross", 0, 1], ["encoder_self", 1, 0]];
  const { trace } = edited(engine.translate(asked({ removed })));
  assert.notDeepEqual(trace.logProbs, whole.logProbs);
  assert.deepEqual(trace.edited, { removed, rows: [], prefix: 0 });
  const row = trace.kinds[2].weights.slice(0, 5);
  assert.ok(Math.abs(row.reduce((sum: number, weight: number) => sum + weight) - 1) < 1e-6);
});

test("a painted row freezes the whole map of its head, and nothing else", async () => {
  const engine = await engineOf(tinyCheckpoint());
  const whole = last(engine.translate(asked())).trace;
  const place: HeadPlace = ["encoder_self", 1, 1];
  const { trace } = edited(engine.translate(asked({
    removed: [["encoder_self", 0, 0]], rows: [{ place, row: 2, weights: [0, 0, 1] }],
  })));
  const map = (run: any) => run.kinds[0].weights.slice(3 * 25, 4 * 25); // five pieces
  assert.deepEqual([...map(trace).slice(10, 15)], [0, 0, 1, 0, 0]);
  assert.deepEqual(map(trace).slice(0, 10), map(whole).slice(0, 10));
  assert.notDeepEqual(trace.kinds[0].weights.slice(2 * 25, 3 * 25),
    whole.kinds[0].weights.slice(2 * 25, 3 * 25));
});

test("what cannot be read is refused in one sentence", async () => {
  const engine = await engineOf(tinyCheckpoint());
  const refused = (changes: Partial<Translate>, why: RegExp) =>
    assert.throws(() => last(engine.translate(asked(changes))), why);
  refused({ text: "ab\ud800c" }, /broken character at position 3/);
  refused({ text: "a".repeat(600) }, /601 pieces.* at most 511/);
  refused({ text: "a".repeat(64 * 512 + 1) }, /more than 32768 characters/);
  refused({ removed: [["cross", 2, 0]] }, /no head L3 H1 of cross/);
  refused({ rows: [{ place: ["cross", 0, 9], row: 0, weights: [1] }] }, /no head L1 H10/);
  refused({ rows: [{ place: ["cross", 0, 1], row: 0, weights: [0, 0, 0, 0, 0, 1] }] },
    /row 1 of L1 H2 .* × 5, /);
  refused({ rows: [{ place: ["decoder_self", 0, 1], row: 2, weights: [0, 0, 0, 1] }] }, /mask/);
  refused({ rows: [{ place: ["encoder_self", 0, 1], row: 5, weights: [1] }] }, /row 6 .*5 × 5/);
  refused({ prefix: ["x"] }, /“x”/);
  refused({ prefix: ["a", "</s>"] }, /“<\/s>”/);
  refused({ prefix: new Array(60).fill("a") }, /61 pieces.* at most 55/);
  for (const text of ["", " \n\u001c\u3000"]) {
    assert.equal(last(engine.translate(asked({ text }))).type, "nothing");
  }
  const { trace } = last(engine.translate(asked({ text: " a\n\u001cb " })));
  assert.deepEqual(trace.source.pieces, ["▁", "a", "▁", "b", "</s>"]);
});

test("a model that this page cannot run is refused in one sentence", async () => {
  const refused = async (change: (made: any) => void, why: RegExp) => {
    const made = tinyCheckpoint({ ...TINY });
    change(made);
    await assert.rejects(engineOf(made), why);
  };
  const pieces: [string, number][] = [..."abcdefgh"].map((letter) => [letter, 0]);
  await refused(({ config }) => (config.activation = "tanh"), /activation tanh/);
  await refused(({ config }) => (config.positions = "rotary"), /rotary positions/);
  await refused(({ config }) => (config.vocab_size = 13), /as many pieces/);
  await refused(({ header }) => (header.shared_embedding.dtype = "F64"), /stored as F64/);
  await refused((made) => (made.tokenizers = [tokenizerOf(pieces, 3)]), /not one of ours/);
  await refused((made) => (made.tokenizers = [tokenizerOf(pieces, 1, "[PAD]")]), /not one of ours/);
  await refused((made) => (made.tokenizers = [new Uint8Array([10, 99, 1])]), /damaged/);
  const engine = await engineOf((({ header, ...made }) => {
    delete header["decoder.layers.1.feed_forward.W_2.bias"];
    header["decoder.layers.1.cross_attention.W_Q.weight"].shape = [4, 16];
    return { header, ...made };
  })(tinyCheckpoint()));
  assert.throws(() => last(engine.translate(asked())), /no weights decoder.layers.1.*W_Q/);
});

test("an order removes other heads than the random ones beside it", async () => {
  const engine = await engineOf(tinyCheckpoint());
  const answers = [...engine.order({ type: "order", turn: 2, text: "abcd", length: 6, seed: 3 })]
    .filter((answer) => answer?.type === "ordered") as any[];
  assert.equal(answers.length, 12);
  assert.deepEqual(answers.map(({ done }) => done), [...new Array(11).fill(false), true]);
  const { heads, random } = answers[11];
  const kinds = (list: any[]) => list.map(({ place }) => place[0]);
  assert.deepEqual(kinds(random), kinds(heads));
  assert.equal(new Set(heads.map(({ place }: any) => String(place))).size, 6);
  const places = (list: any[]): HeadPlace[] => list.map(({ place }) => place);
  const drawn = (seed: number) => randomHeads(engine.model, places(heads), seed);
  assert.deepEqual(places(random), drawn(3));
  for (const kind of new Set(kinds(heads))) {
    const own = places(heads).filter(([other]) => other === kind).map(String);
    const twice = places(random).filter((place) => own.includes(String(place)));
    assert.equal(twice.length, Math.max(0, 2 * own.length - 4)); // of four heads of a kind
  }
  assert.ok([4, 5, 6].some((seed) => String(drawn(seed)) !== String(drawn(3))));
});

test("an order that another request ended goes on where it was", async () => {
  const request = { type: "order", turn: 1, text: "abcd", length: 6, seed: 3 } as const;
  const whole = last((await engineOf(tinyCheckpoint())).order(request));
  const engine = await engineOf(tinyCheckpoint());
  let places = 0;
  for (let visit = 0; visit < 3; visit++) {
    let answers = 0;
    for (const answer of engine.order(request)) {
      if (answer?.type !== "ordered") continue;
      assert.equal(answer.heads.length + answer.random.length, ++places);
      if (++answers === 3) break;
    }
    last(engine.translate(asked({ removed: [["cross", 0, 1]] })));
  }
  assert.deepEqual(last(engine.order(request)), whole);
});

test("after an edited translation comes log P of the one before, with the same edits", async () => {
  const engine = await engineOf(tinyCheckpoint());
  const whole = last(engine.translate(asked()));
  assert.equal(whole.type, "translated");
  const removed: HeadPlace[] = [["cross", 0, 1], ["encoder_self", 1, 0]];
  for (const edits of [{ removed }, { removed, prefix: ["h"] }]) {
    const answer = last(engine.translate(asked(edits)));
    const { target, read } = engine as any;
    const { ids } = read.call(engine, "abc");
    const written = whole.trace.target.pieces.map((piece: string) => target.idOf(piece));
    const { logP } = new ForcedPass(engine.model, ids, written, Edits.without(removed));
    assert.deepEqual(answer, { type: "original", turn: answer.turn, logProb: logP });
  }
});

test("each place tries the 16 worst heads of the last round, and every fourth all", async () => {
  const { model } = await engineOf(tinyCheckpoint({ ...TINY, h: 4, d_k: 2, d_v: 2 }));
  const ordering = new Ordering(model, [4, 5, 6, EOS], [7, 8, EOS]);
  const tries = Array.from({ length: 24 }, () => [...ordering.next()].length);
  assert.deepEqual(tries.slice(0, 13), [24, 16, 16, 16, 20, 16, 16, 16, 16, 15, 14, 13, 1]);
  assert.equal(new Set(ordering.places.map(({ place }) => String(place))).size, 24);
});

test("several heads that are removed at once count as each alone", async () => {
  const { model } = await engineOf(tinyCheckpoint());
  const ids = [4, 5, 6, EOS];
  for (const written of [[7, 8, EOS], [...new Array(39).fill(7), EOS]]) {
    const removed: HeadPlace[] = [["cross", 0, 1]];
    const heads = allHeads(model).filter((place) => String(place) !== String(removed[0]));
    const results = [
      ...new ForcedPass(model, ids, written, Edits.without(removed)).without(heads)];
    assert.deepEqual(new Set(results.map(({ place }) => place)), new Set(heads));
    for (const { place, logP } of results) {
      const edits = Edits.without([...removed, place]);
      const alone = new ForcedPass(model, ids, written, edits).logP;
      assert.ok(Math.abs(logP - alone) < 1e-5, `${place}: ${logP} and ${alone}`);
    }
  }
});

test("what the rows read is made once, not in each layer and for each pass", async () => {
  const { model } = await engineOf(tinyCheckpoint());
  const { layers } = model as any;
  const attention = layers.attention.bind(layers);
  let read: { slots: number[] }[] = [];
  layers.attention = (...given: any[]) => {
    read.push(...given.at(-1));
    attention(...given);
  };
  const ids = [4, 5, 6, EOS];
  for (const steps = searching(model, ids); !steps.next().done;);
  assert.ok(read.length > 20);
  assert.equal(TINY.N * new Set(read).size, read.length);
  const pass = new ForcedPass(model, ids, [7, 8, EOS], Edits.without([]));
  const ofSelf = allHeads(model).filter(([kind]) => kind === "decoder_self");
  const lists = [1, 2].map(() => {
    read = [];
    assert.equal([...pass.without(ofSelf)].length, ofSelf.length);
    return new Set(read.map(({ slots }) => slots));
  });
  const both = new Set([...lists[0], ...lists[1]]);
  assert.ok(both.size < 1.5 * lists[0].size, `${both.size} of ${lists[0].size}`);
});

test("pairs are joined the best first, and unigram takes the largest sum", () => {
  const merges: [string, number][] = [["▁a", -1], ["ab", 0], ["b", -9], ["a", -9], ["▁", -9],
    ["bc", -2], ["c", -9]];
  const cut = (pieces: [string, number][], text: string, type?: number) =>
    new Tokenizer(tokenizerOf(pieces, type)).encode(text).map((token) => token.text);
  assert.deepEqual(cut(merges, "abc", BPE), ["▁", "ab", "c"]);
  assert.deepEqual(cut(merges, "abc"), ["▁a", "bc"]);
  assert.deepEqual(cut(merges, "xyab", BPE), ["▁", "xy", "ab"]); // unknown ones are one
  assert.deepEqual(cut([["▁a▁b", 0], ...merges], "a b", BPE), ["▁a", "▁", "b"]);
});
