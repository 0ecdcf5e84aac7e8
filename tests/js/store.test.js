import assert from "node:assert/strict";
import { test } from "node:test";
import { deleteValue, getValue, setValue, subscribe } from "../../viz/browser/core/store.ts";

test("a value is heard by those who follow its key, and kept for those who come later", () => {
  /** @type {number[]} */
  const heard = [];
  const end = subscribe("grid", (value) => heard.push(value));
  setValue("grid", 1);
  setValue("another grid", 2);
  end();
  setValue("grid", 3);
  assert.deepEqual(heard, [1]);
  assert.equal(getValue("grid"), 3);
  deleteValue("grid");
  assert.equal(getValue("grid"), undefined);
});
