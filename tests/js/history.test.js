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
  /** @type {Record<string, string>} */
  dataset = {};

  getRootNode() {
    return { activeElement: this };
  }

  /** @param {number} start @param {number} end */
  setSelectionRange(start, end) {
    [this.selectionStart, this.selectionEnd] = [start, end];
  }
}

test("a letter is an action of the reader, and no text of the server or of a late run is", () => {
  /** @type {string[]} */
  const log = [];
  const field = new Field();
  /** @type {Record<string, (event: any) => void>} */
  const listeners = {};
  const type = () => listeners.beforeinput({ composedPath: () => [field] });
  const history = {
    pushState: () => log.push("push"),
    replaceState: (/** @type {unknown[]} */ ..._) => log.push("replace"),
  };
  runInNewContext(SCRIPT, {
    addEventListener: (/** @type {string} */ name, /** @type {any} */ act) => {
      listeners[name] = act;
    },
    history, location: { href: "http://host/translate" }, URL, window: {},
    document: { documentElement: { dataset: {} }, querySelector: () => null },
    setInterval: () => 0, clearInterval: () => {},
    HTMLInputElement: class {}, HTMLTextAreaElement: Field,
  });
  Object.assign(globalThis, { document: { execCommand: type } }); // as Safari does
  replaceText(/** @type {any} */ (field), "Drei");
  history.replaceState({}, "", "?text=Drei");
  type();
  history.replaceState({}, "", "?text=Vier");
  assert.equal(field.value, "Drei");
  assert.deepEqual(log, ["replace", "push"]);
  listeners.popstate({ isTrusted: true });
  history.replaceState({}, "", "?text=Vier"); // by a run of the entry that Back has left
  assert.equal(log.length, 2);
  type();
  history.replaceState({}, "", "?text=Sechs");
  assert.equal(log[2], "push");
});
