// A frame in which a picture scrolls, and the note beside what is pointed at.

import { make } from "./dom.js";
import { within } from "./text.js";

/** Sides of a square in a frame, or in all that scrolls in it, CSS pixels.
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box */

/**
 * core.css lets the picture fade on the sides where there is more of it: not every system shows its
 * scroll bars.
 * @param {HTMLElement} scroll
 * @param {HTMLElement[]} notes over it
 */
export function framed(scroll, ...notes) {
  const frame = make("div", { class: "hl-frame" }, scroll, ...notes);
  const update = () => {
    const { scrollWidth, clientWidth, scrollLeft, scrollHeight, clientHeight, scrollTop } = scroll;
    frame.classList.toggle("hl-more-right", scrollWidth - clientWidth - scrollLeft > 1);
    frame.classList.toggle("hl-more-below", scrollHeight - clientHeight - scrollTop > 1);
    frame.style.setProperty("--hl-bar-right", `${scroll.offsetWidth - clientWidth}px`);
    frame.style.setProperty("--hl-bar-below", `${scroll.offsetHeight - clientHeight}px`);
  };
  scroll.addEventListener("scroll", update);
  const observer = new ResizeObserver(update);
  observer.observe(scroll);
  if (scroll.firstElementChild) observer.observe(scroll.firstElementChild);
  return frame;
}

/**
 * Let the keyboard reach an element while it scrolls, and pass it over otherwise.
 * @param {HTMLElement} node without keys of its own
 */
export function setTabStop(node) {
  if (node.scrollWidth > node.clientWidth) node.tabIndex = 0;
  else node.removeAttribute("tabindex");
}

/**
 * Scroll a frame as little as it takes to show a box, or where that is larger its beginning.
 * @param {HTMLElement} scroll
 * @param {Box} box in what scrolls
 */
export function reveal(scroll, { left, top, right, bottom }) {
  scroll.scrollLeft = within(scroll.scrollLeft, right - scroll.clientWidth, left);
  scroll.scrollTop = within(scroll.scrollTop, bottom - scroll.clientHeight, top);
}

/**
 * Put a note below and to the right of a square of `frame`, where it covers neither the square's
 * row nor the words above its column; on another side where the frame ends.
 * @param {HTMLElement} tip
 * @param {HTMLElement} frame
 * @param {Box} box
 */
export function placeTip(tip, frame, { left, top, right, bottom }) {
  tip.hidden = false;
  const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
  const last = frame.clientWidth - wide;
  const x = right + 8 <= last || left - 8 < wide ? Math.min(right + 8, last) : left - 8 - wide;
  const y = bottom + 8 + high <= frame.clientHeight ? bottom + 8 : top - 8 - high;
  tip.style.left = `${Math.max(0, x)}px`;
  tip.style.top = `${y}px`;
}
