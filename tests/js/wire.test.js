import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, WireError } from "../../viz/browser/core/wire.ts";
import { encoded } from "./samples.js";

const TWO = [
  { name: "levels", dtype: "uint8", shape: [1, 3], bytes: [1, 2, 255] },
  { name: "weights", dtype: "float32", shape: [2], bytes: [0, 0, 128, 63, 0, 0, 0, 63] },
];

test("arrays are views of the bytes, where they lie aligned", () => {
  const bytes = encoded({ title: "L1 H1" }, TWO);
  const { meta, arrays, shapes } = decode(bytes);
  assert.deepEqual(meta, { title: "L1 H1" });
  assert.deepEqual([...arrays.levels], [1, 2, 255]);
  assert.deepEqual([...arrays.weights], [1, 0.5]);
  assert.deepEqual(shapes, { levels: [1, 3], weights: [2] });
  assert.equal(arrays.weights.buffer, bytes.buffer);
});

test("bytes that begin anywhere in a buffer are read all the same", () => {
  const bytes = encoded({}, TWO);
  for (const shift of [1, 3, 4, 8]) {
    const larger = new Uint8Array(bytes.length + shift + 5);
    larger.set(bytes, shift);
    const { arrays } = decode(larger.subarray(shift, shift + bytes.length));
    assert.deepEqual([...arrays.weights], [1, 0.5]);
  }
});

test("a message without arrays is a message", () => {
  assert.deepEqual(decode(encoded({ head: ["cross", 0, 1] }, [])).arrays, {});
});

test("another version is said in a sentence", () => {
  assert.throws(() => decode(encoded({}, TWO, 2)),
    new WireError("The picture's data are of version 2 and its script reads version 1: load the "
      + "page again."));
});

test("bytes that are cut anywhere are refused", () => {
  const bytes = encoded({ title: "é" }, TWO);
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => decode(bytes.slice(0, length)), WireError, `${length} bytes`);
  }
});

test("an array that would reach past the end is refused", () => {
  assert.throws(() => decode(encoded({}, [{ ...TWO[1], offset: 8 }])), WireError);
  const unknown = encoded({}, [{ ...TWO[0], dtype: "float16" }]);
  assert.throws(() => decode(unknown), /which no browser has/);
});
