// Elements of the page, the frame in which a picture scrolls, and the note beside what is pointed
// at. Strings become text nodes: nothing is ever parsed as HTML.

import { SPECIAL, within } from "./text.ts";
import type { Place } from "./scene.ts";

export function make<T extends keyof HTMLElementTagNameMap>(
  tag: T, attributes: Record<string, string | number> = {}, ...children: (Node | string)[]
): HTMLElementTagNameMap[T] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
  node.append(...children);
  return node;
}

export function button(text: string, act: () => void, attributes = {}) {
  const node = make("button", { type: "button", ...attributes }, text);
  node.addEventListener("click", act);
  return node;
}

export function choice(attributes: Record<string, string>, words: Node | string) {
  const input = make("input", attributes);
  return { input, label: make("label", { class: "hl-choice" }, input, words) };
}

/** Fill a group of radio buttons, unless it has these: a button would lose the focus. */
export function fillRadios<T extends string>(
  group: HTMLElement, name: string, values: [value: T, words: string, color?: string][],
  choose: (value: T) => void,
) {
  const key = JSON.stringify(values);
  if (group.dataset.values === key) return;
  group.dataset.values = key;
  group.replaceChildren(...values.map(([value, words, color = ""]) => {
    const { input, label } = choice({ type: "radio", name, value }, words);
    input.style.accentColor = color;
    input.addEventListener("change", () => choose(value));
    return label;
  }));
}

export function fillTable(
  table: HTMLTableElement, caption: string, head: string[], rows: string[][],
) {
  const row = (tag: "td" | "th", texts: string[]) =>
    make("tr", {}, ...texts.map((text) => make(tag, {}, SPECIAL.get(text) ?? text)));
  const [body = make("tbody")] = table.tBodies;
  renew(table, [make("caption", {}, caption), make("thead", {}, row("th", head)), body]);
  renew(body, rows.map((texts) => row("td", texts)));
}

/** Replace an element's children. One that is equal stays, and the browser lays it out no more. */
export function renew(parent: Element, nodes: Element[]) {
  nodes.forEach((node, n) => {
    const before = parent.children[n];
    if (!before) parent.append(node);
    else if (!before.isEqualNode(node)) before.replaceWith(node);
  });
  while (parent.children.length > nodes.length) parent.lastElementChild?.remove();
}

export const fillAxes = (element: HTMLElement, axes: string[][]) =>
  element.replaceChildren(...axes.map((words) =>
    make("div", {}, ...words.map((part) => make("span", {}, part)))));

export const ARROWS: Record<string, [right: number, down: number]> = {
  ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
};

export const MOVES: typeof ARROWS = { ...ARROWS, Home: [-Infinity, 0], End: [Infinity, 0] };

/** Make the buttons of a bar one stop of Tab, between which the arrow keys move.
 * @returns names the button that Tab enters */
export function toolbar(bar: HTMLElement): (button: HTMLButtonElement) => void {
  const buttons = () => [...bar.querySelectorAll("button")];
  const mark = (stop: EventTarget | null) => {
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

export const boxAt = (left: number, top: number, width: number, height: number) =>
  ({ left, top, right: left + width, bottom: top + height });

/** Find where a pointer is in an element, also where the page is presented enlarged.
 * @returns CSS pixels of the element */
export function pointIn(
  { clientX, clientY }: { clientX: number; clientY: number }, element: Element,
): [x: number, y: number] {
  const { left, top } = element.getBoundingClientRect();
  const zoom = element.currentCSSZoom ?? 1; // of the browsers that know it
  return [(clientX - left) / zoom, (clientY - top) / zoom];
}

export const isShortcut = ({ ctrlKey, metaKey, altKey }: KeyboardEvent) =>
  ctrlKey || metaKey || altKey;

/** Find the next place in a direction: straight on before askew.
 * @param part of a place's size at which its point lies: 0 for the corner, 0.5 the middle */
export function nearest<T extends Place>(
  places: T[], from: T, [right, down]: [right: number, down: number], part: number,
) {
  let [best, least] = [null as T | null, Infinity];
  for (const place of places) {
    const dx = place.x - from.x + part * (place.width - from.width);
    const dy = place.y - from.y + part * (place.height - from.height);
    const ahead = dx * right + dy * down;
    const far = ahead + 2 * Math.abs(dx * down + dy * right);
    if (ahead > 1 && far < least) [best, least] = [place, far];
  }
  return best;
}

export const penOf = (canvas: HTMLCanvasElement) =>
  canvas.getContext("2d") as CanvasRenderingContext2D;

/** Whether the reader has asked for less motion. */
export const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Scroll an element of the page to where it is seen; where it is in sight nothing moves. */
export function bringIntoView(selector: string) {
  document.querySelector(selector)
    ?.scrollIntoView({ block: "nearest", behavior: isStill() ? "instant" : "smooth" });
}

/** Sides of a square in a frame, or in all that scrolls in it, CSS pixels. */
export interface Box { left: number; top: number; right: number; bottom: number }

/** Let a picture fade on the sides where there is more of it, as style.css draws it: not every
 * system shows its scroll bars. */
export function framed(scroll: HTMLElement, ...notes: HTMLElement[]) {
  const frame = make("div", { class: "hl-frame" }, scroll, ...notes);
  const update = () => {
    const { scrollWidth, clientWidth, scrollLeft, scrollHeight, clientHeight, scrollTop } = scroll;
    frame.classList.toggle("hl-more-right", scrollWidth - clientWidth - scrollLeft > 1);
    frame.classList.toggle("hl-more-left", scrollLeft > 1);
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

/** Scroll a frame as little as it takes to show a box, or where that is larger its beginning. */
export function reveal(scroll: HTMLElement, { left, top, right, bottom }: Box) {
  scroll.scrollLeft = within(scroll.scrollLeft, right - scroll.clientWidth, left);
  scroll.scrollTop = within(scroll.scrollTop, bottom - scroll.clientHeight, top);
}

/** Put a note below and to the right of a square of `frame`, where it covers neither the square's
 * row nor the words above its column; on another side where the frame ends.
 * @param apart from the square, downward */
export function placeTip(
  tip: HTMLElement, frame: HTMLElement, { left, top, right, bottom }: Box, apart = 8,
) {
  tip.hidden = false;
  const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
  const last = frame.clientWidth - wide;
  const x = right + 8 <= last || left - 8 < wide ? Math.min(right + 8, last) : left - 8 - wide;
  const y = bottom + apart + high <= frame.clientHeight ? bottom + apart : top - apart - high;
  tip.style.left = `${Math.max(0, x)}px`;
  tip.style.top = `${y}px`;
}
