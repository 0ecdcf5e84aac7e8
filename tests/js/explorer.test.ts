import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { Explorer, labelsOf, nameOf, weightsOf } from "../../viz/browser/explorer.ts";
import { HeadWeights, unpack } from "../../viz/browser/head_weights.ts";
import { viewOf } from "./samples.ts";

/** As viz/draw/explorer.py writes it: gzip of planes. */
function packed(numbers: any) {
  const bytes = new Uint8Array(numbers.buffer);
  const wide = numbers.BYTES_PER_ELEMENT;
  const planes = Array.from({ length: wide }, (_, plane) =>
    bytes.filter((_byte, at) => at % wide === plane));
  return gzipSync(Buffer.concat(planes)).toString("base64");
}

const kinds = (heads: number, size: number, weights: Float32Array | null = null) =>
  ({ cross: { heads, weights, map: { queries: ["q"], keys: Array(size).fill("k") } } });

const EXACT = { dtype: "float32", unit: 1 } as const;

test("a head is unpacked as it was, or as so many steps", async () => {
  const weights = Float32Array.of(0, 0.1, 1 / 3, 1);
  assert.deepEqual(await unpack(packed(weights), EXACT), weights);
  const steps = { dtype: "int16" as const, unit: 0.5 };
  assert.deepEqual([...await unpack(packed(Int16Array.of(-2, 0, 1, 300)), steps)],
    [-1, 0, 0.5, 150]);
});

test("a head, or a layer of all heads together, is named from 1", () => {
  const nameIn = (together: string) =>
    viewOf(Explorer, { data: { together } }).nameOf(1, 0);
  assert.deepEqual([nameIn(""), nameIn("all heads")], ["L2 H1", "layer 2 · all heads"]);
});

test("weights of the message are those of their layer and head", () => {
  const all = Float32Array.from({ length: 2 * 3 * 2 }, (_, n) => n);
  const weights = new HeadWeights(kinds(3, 2, all), EXACT);
  assert.deepEqual([...weights.get("cross", 1, 2) ?? []], [10, 11]);
});

test("a head apart is at hand once it is loaded, and stays while it is used", async () => {
  const asked: string[] = [];
  const weights = new HeadWeights(kinds(40, 2), EXACT, async (name) => {
    asked.push(name);
    return packed(Float32Array.of(Number(name.split(".")[2]), 1));
  });
  assert.equal(weights.get("cross", 0, 7), undefined);
  for (let head = 0; head < 40; head++) {
    await weights.load("cross", 0, head);
    // it is asked for with each other one, as it lies over them
    if (head >= 7) assert.deepEqual([...weights.get("cross", 0, 7) ?? []], [7, 1]);
  }
  assert.equal(weights.get("cross", 0, 0), undefined);
  assert.equal(asked[7], "cross.0.7");
});

test("a head that is cut is refused", async () => {
  const weights = new HeadWeights(kinds(1, 3), EXACT, async () => packed(Float32Array.of(1, 2)));
  await assert.rejects(weights.load("cross", 0, 0), /cut/);
});

test("a part of a pair has the rows of one text and the columns of the other", () => {
  const part: any = { looking: "second", looked_at: "first", rows: [2, 4], keys: [1, 3] };
  const weights = Float32Array.from({ length: 16 }, (_, n) => n);
  assert.deepEqual([...weightsOf(weights, 4, part)], [9, 10, 13, 14]);
  const queries = ["a", "b", "c", "d"];
  const data = { queries, keys: queries, rowNames: null, rows: "looks", columns: "looked at" };
  assert.deepEqual(labelsOf(data, part), {
    queries: ["c", "d"], keys: ["b", "c"], rowNames: null,
    rows: "looks (second text)", columns: "looked at (first text)",
  });
  assert.equal(nameOf(part), "second → first");
});
