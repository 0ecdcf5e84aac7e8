import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readNumbers } from "../../viz/browser/core/numbers.ts";

const examples = new URL("../viz/lessons/numbers.json", import.meta.url);

test("a number is read as viz/lessons/numbers.py reads it", () => {
  const read = JSON.parse(readFileSync(examples, "utf8")) as Record<string, number[]>;
  assert.ok(Object.keys(read).length > 70);
  for (const [text, numbers] of Object.entries(read)) {
    assert.equal(readNumbers(text).length, numbers.length, text);
    readNumbers(text).forEach((number, at) =>
      assert.ok(Math.abs(number - numbers[at]) <= 1e-12 * Math.abs(numbers[at]), text));
  }
});
