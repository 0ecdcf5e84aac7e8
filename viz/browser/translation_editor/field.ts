// The text field of the editor. What a person types and undoes is the browser's own; a text of the
// server's is put in as one more edit, so that caret and undo live through it.

import { type Box, make } from "../core/dom.ts";
import { difference, endBox } from "./words.ts";

/** A text has no lines: a break counts as a space, and keeps the place of every letter. */
export const inOneLine = (text: string) => text.replace(/[\r\n\u2028\u2029]/g, " ");

/** @param id of what Alt+Down opens
 * @param note id of what explains the field */
export const makeField = (id: string, note: string) => make("textarea", {
  class: "hl-editor-field", dir: "auto", rows: 1, spellcheck: "false", autocomplete: "off",
  autocapitalize: "off", autocorrect: "off", enterkeyhint: "done", "aria-autocomplete": "list",
  "aria-haspopup": "listbox", "aria-controls": id, "aria-describedby": note,
});

export function caretAfter(
  caret: number, { from, until, inserted }: { from: number; until: number; inserted: string },
) {
  if (caret <= from) return caret;
  const end = from + inserted.length;
  return caret >= until ? caret - until + end : end;
}

/** Put in a text of the server's. Safari reports it as typed (`beforeinput`), so the field says
 * meanwhile that it is not. */
export function replaceText(field: HTMLTextAreaElement, text: string) {
  if (field.value === text) return;
  const change = difference(field.value, text);
  const { selectionStart, selectionEnd } = field;
  const root = field.getRootNode() as Document | ShadowRoot;
  if (root.activeElement === field) {
    field.setSelectionRange(change.from, change.until);
    field.dataset.replacing = "";
    insert(field, change.inserted);
    delete field.dataset.replacing;
  }
  if (field.value !== text) field.value = text;
  const end = caretAfter(selectionEnd, change);
  const isTouched = change.from < selectionEnd && change.until > selectionStart;
  field.setSelectionRange(isTouched ? end : caretAfter(selectionStart, change), end);
}

function insert(field: HTMLTextAreaElement, text: string) {
  // no other way into a browser's own undo
  document.execCommand(text ? "insertText" : "delete", false, text);
}

/** Join the lines of a pasted text before it comes in; a dropped text is joined when it is read. */
export function joinLines(field: HTMLTextAreaElement, event: InputEvent) {
  const { inputType, data, dataTransfer } = event;
  if (inputType === "insertLineBreak" || inputType === "insertParagraph") {
    event.preventDefault();
    return;
  }
  const text = data ?? dataTransfer?.getData("text/plain") ?? "";
  if (inputType !== "insertFromPaste" || inOneLine(text) === text) return;
  event.preventDefault();
  insert(field, inOneLine(text.replace(/\r\n/g, "\n").trim()));
}

export class Mirror {
  letters = document.createTextNode("");
  end = document.createTextNode("\u200b"); // so that a text of no letters has a line, too
  root = make("div", { class: "hl-editor-mirror", dir: "auto", "aria-hidden": "true" },
    this.letters, this.end);

  write(text: string) {
    if (this.letters.data !== text) this.letters.data = text;
  }

  /** Measure a stretch of the text: one box for each line.
   * @param start in UTF-16 units
   * @returns in pixels of the mirror */
  boxes(start: number, end: number): Box[] {
    const range = document.createRange();
    range.setStart(this.letters, Math.min(start, this.letters.length));
    range.setEnd(this.letters, Math.min(end, this.letters.length));
    const outer = this.root.getBoundingClientRect();
    return [...range.getClientRects()].filter(({ width }) => width > 0)
      .map((box) => inside(box, outer));
  }

  get fromRight() {
    return getComputedStyle(this.root).direction === "rtl";
  }

  endBox(): Box {
    const range = document.createRange();
    range.selectNodeContents(this.end);
    const outer = this.root.getBoundingClientRect();
    const box = inside(range.getBoundingClientRect(), outer);
    return endBox(box, outer.width, this.fromRight);
  }
}

const inside = ({ left, top, right, bottom }: DOMRect, outer: DOMRect): Box => ({
  left: left - outer.left, top: top - outer.top,
  right: right - outer.left, bottom: bottom - outer.top,
});
