import assert from "node:assert/strict";
import { test } from "node:test";
import { matching } from "../../viz/browser/lines.ts";

test("typed words are found in both languages without accents or case, and #3 is a line", () => {
  const sentences = [
    { number: 3, source: "A Café", target: "Ein Haus" }, { number: 4, source: "#3", target: "" },
  ] as any[];
  assert.deepEqual(matching(sentences, "cafe EIN").map(({ number }) => number), [3]);
  assert.deepEqual(matching(sentences, " #4 ").map(({ number }) => number), [4]);
  assert.equal(matching(sentences, "  ").length, 2);
});
