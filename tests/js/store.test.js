import assert from "node:assert/strict";
import { test } from "node:test";
import { follow, forget, said, say } from "../../viz/draw/js/core/store.js";

test("a value is heard by those who follow its key, and kept for those who come later", () => {
  /** @type {number[]} */
  const heard = [];
  const end = follow("grid", (value) => heard.push(value));
  say("grid", 1);
  say("another grid", 2);
  end();
  say("grid", 3);
  assert.deepEqual(heard, [1]);
  assert.equal(said("grid"), 3);
  forget("grid");
  assert.equal(said("grid"), undefined);
});
