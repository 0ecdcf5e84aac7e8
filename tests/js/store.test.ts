import assert from "node:assert/strict";
import { test } from "node:test";
import {
  carry, deleteValue, getValue, setValue, SharedChoice, subscribe, withTrace,
} from "../../viz/browser/core/store.ts";

test("a value is heard by those who follow its key, and kept for those who come later", () => {
  const heard: number[] = [];
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

test("a link's choice counts at first, and Back's later on", () => {
  const row = new SharedChoice(-1);
  row.follow(3);
  assert.equal(row.value, 3);
  row.follow(undefined); // a host that takes no part
  assert.equal(row.value, 3);
  row.follow(1);
  assert.equal(row.value, 1);
});

test("what the host says before it answers a click is of clicks before that", () => {
  const row = new SharedChoice(-1);
  row.follow(-1);
  row.choose(2);
  row.choose(4);
  row.follow(2); // the answer to the first click
  assert.equal(row.value, 4);
  row.follow(4);
  row.follow(2); // Back
  assert.equal(row.value, 2);
});

test("a picture is drawn once its trace is there, and a carrier takes no later one away", () => {
  const traces: any[] = ["first", "second"].map((text) => ({ source: { text } }));
  const drawn: any[] = [];
  withTrace("a", (trace) => void drawn.push(trace));
  withTrace("a", () => assert.fail("it waits no more"))();
  carry({ id: "b", trace: traces[1] });
  assert.equal(drawn.length, 0);
  const end = carry({ id: "a", trace: traces[0] });
  const endLater = carry({ id: "a", trace: traces[1] });
  assert.deepEqual(drawn, [traces[0]]);
  end();
  withTrace("a", (trace) => drawn.push(trace)); // at once
  assert.deepEqual(drawn, traces);
  endLater();
  assert.equal(getValue("trace"), undefined);
});
