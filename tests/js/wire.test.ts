import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, WireError } from "../../viz/browser/core/wire.ts";
import { encoded } from "./samples.ts";

const TWO = [
  { dtype: "uint8", shape: [1, 3], bytes: [1, 2, 255] },
  { dtype: "float32", shape: [2], bytes: [0, 0, 128, 63, 0, 0, 0, 63] },
];
const MESSAGE = { title: "é", parts: [{ levels: { $array: 0 } }, { weights: { $array: 1 } }] };

test("arrays stand in their places, and are views of the bytes where they lie aligned", () => {
  const bytes = encoded(MESSAGE, TWO);
  const { title, parts: [{ levels }, { weights }] } = decode(bytes);
  assert.deepEqual([title, [...levels], [...weights]], ["é", [1, 2, 255], [1, 0.5]]);
  assert.equal(weights.buffer, bytes.buffer);
  for (const shift of [1, 3, 4, 8]) {
    const larger = new Uint8Array(bytes.length + shift + 5);
    larger.set(bytes, shift);
    const { parts } = decode(larger.subarray(shift, shift + bytes.length));
    assert.deepEqual([...parts[1].weights], [1, 0.5]);
  }
});

test("a message can hold another one, or no array", () => {
  const inner = [...encoded(MESSAGE, TWO)];
  const outer = encoded({ grid: { $message: 0 } },
    [{ dtype: "uint8", shape: [inner.length], bytes: inner }]);
  assert.deepEqual([...decode(outer).grid.parts[1].weights], [1, 0.5]);
  assert.deepEqual(decode(encoded({ head: ["cross", 0, 1] }, [])), { head: ["cross", 0, 1] });
});

test("what is cut anywhere, of another version or of another type is refused", () => {
  const bytes = encoded(MESSAGE, TWO);
  for (let length = 0; length < bytes.length; length++) {
    assert.throws(() => decode(bytes.slice(0, length)), WireError, `${length} bytes`);
  }
  assert.throws(() => decode(encoded({}, TWO, 1)),
    new WireError("The picture's data are of version 1 and its script reads version 2: load the "
      + "page again."));
  assert.throws(() => decode(encoded({}, [{ ...TWO[0], shape: [9] }])), WireError);
  assert.throws(() => decode(encoded({}, [{ ...TWO[0], dtype: "float16" }])),
    /which no browser has/);
});
