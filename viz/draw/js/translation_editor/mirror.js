// The letters of the field once more, unseen and in the same places: a text field tells nobody
// where its words stand.

import { make } from "../core/dom.js";
import { endBox } from "./plan.js";

/** @typedef {import("../core/frame.js").Box} Box */

export class Mirror {
  constructor() {
    this.letters = document.createTextNode("");
    this.end = document.createTextNode("\u200b"); // so that a text of no letters has a line, too
    this.root = make("div", { class: "hl-editor-mirror", dir: "auto", "aria-hidden": "true" },
      this.letters, this.end);
  }

  /** @param {string} text the very letters of the field */
  write(text) {
    if (this.letters.data !== text) this.letters.data = text;
  }

  /**
   * One box for each line that a stretch of the text stands in.
   * @param {number} start in UTF-16 units
   * @param {number} end
   * @returns {Box[]} in pixels of the mirror
   */
  boxes(start, end) {
    const range = document.createRange();
    range.setStart(this.letters, Math.min(start, this.letters.length));
    range.setEnd(this.letters, Math.min(end, this.letters.length));
    const outer = this.root.getBoundingClientRect();
    return [...range.getClientRects()].filter(({ width }) => width > 0)
      .map((box) => inside(box, outer));
  }

  /** Whether the text runs so, by its first letters. */
  get fromRight() {
    return getComputedStyle(this.root).direction === "rtl";
  }

  /** Where the end of the sentence is shown. @returns {Box} */
  endBox() {
    const range = document.createRange();
    range.selectNodeContents(this.end);
    const outer = this.root.getBoundingClientRect();
    const box = inside(range.getBoundingClientRect(), outer);
    return endBox(box, outer.width, this.fromRight);
  }
}

/** @param {DOMRect} box @param {DOMRect} outer @returns {Box} */
const inside = ({ left, top, right, bottom }, outer) => ({
  left: left - outer.left, top: top - outer.top,
  right: right - outer.left, bottom: bottom - outer.top,
});
