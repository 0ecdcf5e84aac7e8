// Elements of the page, the frame in which a picture scrolls, and the note beside what is pointed
// at. Strings become text nodes: nothing is ever parsed as HTML.

import { within } from "./text.ts";

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

/** @param {string} text on the button @param {() => void} act */
export function button(text, act, attributes = {}) {
  const node = make("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", act);
  return node;
}

/**
 * Make a checkbox or a radio button with its words.
 * @param {Record<string, string>} attributes of the input
 * @param {Node | string} words
 */
export function choice(attributes, words) {
  const input = make("input", attributes);
  return { input, label: make("label", { class: "hl-choice" }, input, words) };
}

/**
 * Fill the table that stands for a picture in a screen reader.
 * @param {HTMLTableElement} table
 * @param {string} caption
 * @param {string[]} head
 * @param {string[][]} rows
 */
export function fillTable(table, caption, head, rows) {
  /** @param {"td" | "th"} tag @param {string[]} texts */
  const row = (tag, texts) => make("tr", {}, ...texts.map((text) => make(tag, {}, text)));
  table.replaceChildren(make("caption", {}, caption), make("thead", {}, row("th", head)),
    make("tbody", {}, ...rows.map((texts) => row("td", texts))));
}

/** Steps of the arrow keys. @type {Record<string, [right: number, down: number]>} */
export const ARROWS = {
  ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
};

/** Steps of the keys in a row. @type {typeof ARROWS} */
export const MOVES = { ...ARROWS, Home: [-Infinity, 0], End: [Infinity, 0] };

/**
 * Make the buttons of a bar one stop of Tab, between which the arrow keys move.
 * @param {HTMLElement} bar
 * @returns {(button: HTMLButtonElement) => void} names the button that Tab enters
 */
export function toolbar(bar) {
  const buttons = () => [...bar.querySelectorAll("button")];
  /** @param {EventTarget | null} stop */
  const mark = (stop) => {
    for (const node of buttons()) node.tabIndex = node === stop ? 0 : -1;
  };
  bar.setAttribute("role", "toolbar");
  bar.addEventListener("focusin", ({ target }) => mark(target));
  bar.addEventListener("keydown", (event) => {
    const [right] = MOVES[event.key] ?? [0];
    const nodes = buttons();
    const at = nodes.findIndex((node) => node === event.target);
    if (!right || at < 0 || isShortcut(event)) return;
    event.preventDefault();
    nodes[within(at + right, 0, nodes.length - 1)].focus();
  });
  return mark;
}

/** Make a box of a square.
 * @param {number} left @param {number} top @param {number} width @param {number} height */
export const boxAt = (left, top, width, height) =>
  ({ left, top, right: left + width, bottom: top + height });

/**
 * Find where a pointer is in an element, also where the page is presented enlarged.
 * @param {{clientX: number, clientY: number}} event @param {Element} element
 * @returns {[x: number, y: number]} CSS pixels of the element
 */
export function pointIn({ clientX, clientY }, element) {
  const { left, top } = element.getBoundingClientRect();
  const zoom = element.currentCSSZoom ?? 1; // of the browsers that know it
  return [(clientX - left) / zoom, (clientY - top) / zoom];
}

/** Test whether a key belongs to the browser or the page. @param {KeyboardEvent} event */
export const isShortcut = ({ ctrlKey, metaKey, altKey }) => ctrlKey || metaKey || altKey;

/**
 * Find the next place in a direction: straight on before askew.
 * @template {import("./scene.ts").Place} T
 * @param {T[]} places
 * @param {T} from
 * @param {[right: number, down: number]} direction
 * @param {number} part of a place's size at which its point lies: 0 for the corner, 0.5 the middle
 */
export function nearest(places, from, [right, down], part) {
  let [best, least] = [/** @type {T | null} */ (null), Infinity];
  for (const place of places) {
    const dx = place.x - from.x + part * (place.width - from.width);
    const dy = place.y - from.y + part * (place.height - from.height);
    const ahead = dx * right + dy * down;
    const far = ahead + 2 * Math.abs(dx * down + dy * right);
    if (ahead > 1 && far < least) [best, least] = [place, far];
  }
  return best;
}

/** Get the context of a canvas, which no browser refuses. @param {HTMLCanvasElement} canvas */
export const penOf = (canvas) =>
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/** Scroll an element of the page to where it is seen; where it is in sight nothing moves.
 * @param {string} selector */
export function bringIntoView(selector) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  document.querySelector(selector)
    ?.scrollIntoView({ block: "nearest", behavior: still ? "instant" : "smooth" });
}

/** Sides of a square in a frame, or in all that scrolls in it, CSS pixels.
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box */

/**
 * Let a picture fade on the sides where there is more of it, as style.css draws it: not every
 * system shows its scroll bars.
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
 * Scroll a frame as little as it takes to show a box, or where that is larger its beginning.
 * @param {HTMLElement} scroll
 * @param {Box} box in what scrolls
 */
export function reveal(scroll, { left, top, right, bottom }) {
  scroll.scrollLeft = within(scroll.scrollLeft, right - scroll.clientWidth, left);
  scroll.scrollTop = within(scroll.scrollTop, bottom - scroll.clientHeight, top);
}

/** Put a note below and to the right of a square of `frame`, where it covers neither the square's
 * row nor the words above its column; on another side where the frame ends.
 * @param {HTMLElement} tip @param {HTMLElement} frame @param {Box} box */
export function placeTip(tip, frame, { left, top, right, bottom }) {
  tip.hidden = false;
  const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
  const last = frame.clientWidth - wide;
  const x = right + 8 <= last || left - 8 < wide ? Math.min(right + 8, last) : left - 8 - wide;
  const y = bottom + 8 + high <= frame.clientHeight ? bottom + 8 : top - 8 - high;
  tip.style.left = `${Math.max(0, x)}px`;
  tip.style.top = `${y}px`;
}
