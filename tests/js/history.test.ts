import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { replaceText } from "../../viz/browser/translation_editor/field.ts";

const SCRIPT = readFileSync(new URL("../../viz/app/chrome/js/history.js", import.meta.url), "utf8");

class Field {
  value = "Zwei";
  selectionStart = 0;
  selectionEnd = 0;
  dataset: Record<string, string> = {};

  getRootNode() {
    return { activeElement: this };
  }

  setSelectionRange(start: number, end: number) {
    [this.selectionStart, this.selectionEnd] = [start, end];
  }
}

test("a letter is an action of the reader, and no text of the server or of a late run is", () => {
  const log: string[] = [];
  const sent: string[] = [];
  const field = new Field();
  const listeners: Record<string, (event: any) => void> = {};
  const type = () => listeners.beforeinput({ composedPath: () => [field] });
  const history = {
    pushState: () => log.push("push"),
    replaceState: (..._: unknown[]) => log.push("replace"),
  };
  runInNewContext(SCRIPT, {
    addEventListener: (name: string, act: any) => {
      listeners[name] = act;
    },
    history, location: { href: "http://host/translate" }, URL, window: {},
    document: { documentElement: { dataset: {} }, querySelector: () => null },
    setInterval: () => 0, clearInterval: () => {},
    HTMLInputElement: class {}, HTMLTextAreaElement: Field, Event,
    dispatchEvent: ({ type: name }: Event) => sent.push(name), // to the player, which follows
  });
  Object.assign(globalThis, { document: { execCommand: type } }); // as Safari does
  replaceText(field as any, "Drei");
  history.replaceState({}, "", "?text=Drei");
  type();
  history.replaceState({}, "", "?text=Vier");
  assert.equal(field.value, "Drei");
  assert.deepEqual(log, ["replace", "push"]);
  assert.deepEqual(sent, ["headlight-address", "headlight-address"]);
  listeners.popstate({ isTrusted: true });
  history.replaceState({}, "", "?text=Vier"); // by a run of the entry that Back has left
  assert.equal(log.length, 2);
  type();
  history.replaceState({}, "", "?text=Sechs");
  assert.equal(log[2], "push");
});
