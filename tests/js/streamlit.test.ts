import assert from "node:assert/strict";
import show from "../../viz/browser/streamlit.ts";
import { test } from "node:test";
import { getValue, subscribe } from "../../viz/browser/core/store.ts";
import { encoded } from "./samples.ts";

test("a call that Streamlit ends takes nothing away before its element has left the page", () => {
  const host = { isConnected: true, toggleAttribute: () => {} };
  const call = (head: number) => show({
    data: encoded({ component: "value", key: "grid", value: ["cross", 0, head] }, []),
    parentElement: { host } as any, setTriggerValue: () => {},
  });
  const endFirst = call(1);
  const end = call(2);
  endFirst();
  assert.deepEqual(getValue("grid"), ["cross", 0, 2]);
  host.isConnected = false;
  end();
  assert.equal(getValue("grid"), undefined);
});

test("what hears of a value is laid out after its element hides nothing any more", () => {
  let isDrawn = false;
  const host = { isConnected: true, toggleAttribute: () => { isDrawn = true; } };
  const seen: boolean[] = [];
  const forget = subscribe("trace", () => seen.push(isDrawn));
  show({
    data: encoded({ component: "value", key: "trace", value: 1 }, []),
    parentElement: { host } as any, setTriggerValue: () => {},
  });
  forget();
  assert.deepEqual(seen, [true]);
});
