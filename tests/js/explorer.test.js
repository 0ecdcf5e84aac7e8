import assert from "node:assert/strict";
import { test } from "node:test";
import { weightsOf } from "../../viz/draw/js/explorer/data.js";
import { mapData, viewData } from "./samples.js";

test("a mean is over what is null: layers, heads or both", () => {
  const weights = Float32Array.from({ length: 2 * 3 * 2 }, (_, n) => n);
  const ofKind = { layers: 2, heads: 3, map: mapData(1, 2), view: viewData(1, 1, 2), weights };
  assert.deepEqual([...weightsOf(ofKind, 1, 2)], [10, 11]);
  assert.deepEqual([...weightsOf(ofKind, 1, null)], [8, 9]);
  assert.deepEqual([...weightsOf(ofKind, null, 0)], [3, 4]);
  assert.deepEqual([...weightsOf(ofKind, null, null)], [5, 6]);
});
