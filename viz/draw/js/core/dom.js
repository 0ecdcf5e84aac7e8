// Elements of the page. Strings become text nodes: nothing is ever parsed as HTML.

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

/**
 * @param {string} text on the button
 * @param {() => void} act
 * @param {Record<string, string>} [attributes]
 */
export function button(text, act, attributes = {}) {
  const node = make("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", act);
  return node;
}

/**
 * Make a row of a table.
 * @param {"td" | "th"} tag
 * @param {string[]} texts
 */
const tableRow = (tag, texts) => make("tr", {}, ...texts.map((text) => make(tag, {}, text)));

/**
 * Make the table that stands for a picture in a screen reader: its children.
 * @param {string} caption
 * @param {string[]} head
 * @param {string[][]} rows
 */
export const tableOf = (caption, head, rows) => [
  make("caption", {}, caption),
  make("thead", {}, tableRow("th", head)),
  make("tbody", {}, ...rows.map((row) => tableRow("td", row))),
];

/** Steps of the arrow keys. @type {Record<string, [right: number, down: number]>} */
export const ARROWS = {
  ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
};

/** Test whether a key belongs to the browser or the page. @param {KeyboardEvent} event */
export const isShortcut = ({ ctrlKey, metaKey, altKey }) => ctrlKey || metaKey || altKey;

/** Get the context of a canvas, which no browser refuses. @param {HTMLCanvasElement} canvas */
export const penOf = (canvas) =>
  /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));

/**
 * Scroll an element of the page to where it is seen; where it is in sight nothing moves.
 * @param {string} selector
 */
export function bringIntoView(selector) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  document.querySelector(selector)
    ?.scrollIntoView({ block: "nearest", behavior: still ? "instant" : "smooth" });
}
