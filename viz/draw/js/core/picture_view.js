// A view that is one large picture in a frame: it scrolls where it is larger, and what the pointer
// or the arrow keys are at is told beside it.

import { paint, sized } from "./canvas.js";
import { make } from "./dom.js";
import { framed, placeTip } from "./frame.js";
import { within } from "./text.js";
import { View } from "./view.js";

/** @import { Box } from "./frame.js" */
/** @import { Mark } from "./scene.js" */

export const EDGE = 8; // between words and what they name, CSS pixels
export const TALLEST = 800; // the frame; what is taller scrolls in it
const AROUND = 330; // what a page of the app has above and below its picture, CSS pixels
const LEAST = 280;

/**
 * The height up to which a picture is seen whole when its page opens.
 * @param {number} [around] what the page has above and below it
 */
export function heightInSight(around = AROUND) {
  // the frame of a notebook, which has its page within it, is as high as that
  const { innerHeight } = window.frameElement?.hasAttribute("srcdoc") ? window.parent : window;
  return within(innerHeight - around, LEAST, TALLEST);
}

/** What is to be seen of a picture: what is scrolled away, and the size of the frame.
 * @typedef {{x: number, y: number, width: number, height: number}} Visible */

/**
 * @template {{caption?: string[]}} D
 * @template {object} At what can be pointed at
 * @template {{width: number, height: number}} P its plan
 * @extends {View<D>}
 */
export class PictureView extends View {
  constructor() {
    super();
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.room = make("div", {}, this.canvas); // as large as the picture; the canvas is the frame
    this.scroll = make("div", {
      class: "hl-scroll", tabindex: "0", role: "application",
    }, this.room);
    this.tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
    this.frame = framed(this.scroll, this.tip);
    this.note = make("span");
    this.foot = make("div", { class: "hl-foot" }, this.note, this.saveButtons());
    this.table = make("table");
    // a table keeps the width of its words whatever it is told, so the box around it is small
    this.unseen = make("div", { class: "hl-unseen" }, this.table);
    this.root.append(this.frame, this.foot, this.unseen, this.live);
    /** @type {P} */
    this.plan;
    /** @type {At | null} */
    this.at = null; // under the pointer or the cursor
    this.listen();
  }

  listen() {
    const { scroll } = this;
    scroll.addEventListener("pointermove", (event) => this.point(this.under(event)));
    scroll.addEventListener("pointerleave", () => this.point(null));
    scroll.addEventListener("blur", () => this.point(null));
    scroll.addEventListener("scroll", () => this.draw());
    scroll.addEventListener("click", (event) => {
      const at = this.under(event);
      this.point(at);
      if (at) this.pick(at);
    });
    scroll.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (this.press(event.key)) event.preventDefault();
    });
  }

  draw() {
    if (!this.plan) return;
    const visible = this.visible();
    const context = sized(this.canvas, visible.width, visible.height);
    paint(context, this.marks(visible), this.theme.font);
    this.showTip(visible);
  }

  /** @returns {Visible} */
  visible() {
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = this.scroll;
    return {
      x: scrollLeft, y: scrollTop,
      width: Math.min(clientWidth, this.plan.width),
      height: Math.min(clientHeight, this.plan.height),
    };
  }

  /** @param {PointerEvent | MouseEvent} event */
  under({ clientX, clientY }) {
    const box = this.canvas.getBoundingClientRect();
    return this.plan ? this.hit(clientX - box.left, clientY - box.top, this.visible()) : null;
  }

  /** @param {At | null} at */
  point(at) {
    if (JSON.stringify(at) === JSON.stringify(this.at)) return;
    this.at = at;
    this.draw();
  }

  /** @param {Visible} visible */
  showTip(visible) {
    const said = this.at && this.tell(this.at, visible);
    this.tip.hidden = !said;
    if (!said) return;
    this.tip.replaceChildren(...said.words);
    placeTip(this.tip, this.frame, said.box);
  }

  /**
   * The picture, or what is to be seen of it.
   * @param {Visible} _visible
   * @returns {Mark[]} in CSS pixels of the frame
   */
  marks(_visible) {
    return [];
  }

  /**
   * What lies at a place of the frame.
   * @param {number} _x
   * @param {number} _y
   * @param {Visible} _visible
   * @returns {At | null}
   */
  hit(_x, _y, _visible) {
    return null;
  }

  /**
   * What the note says, and the square of the frame that it stands beside.
   * @param {At} _at
   * @param {Visible} _visible
   * @returns {{words: (Node | string)[], box: Box} | null}
   */
  tell(_at, _visible) {
    return null;
  }

  /** A click. @param {At} _at */
  pick(_at) {}

  /** A key. @param {string} _key @returns {boolean} whether it is one of the picture's */
  press(_key) {
    return false;
  }
}
