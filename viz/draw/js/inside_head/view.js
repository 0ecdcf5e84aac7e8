// The inside of a head: one query word, every number between x and the stream, step by step or as
// one picture. Steps, play and back are answered here, without the server.

import { button, make, tableOf } from "../core/dom.js";
import { setTabStop } from "../core/frame.js";
import { PictureView } from "../core/picture_view.js";
import { group } from "../core/scene.js";
import { figure, quote, within } from "../core/text.js";
import { insideMarks, rowMark } from "./marks.js";
import { hitInside, partAt, planInside } from "./plan.js";

/** @import { Visible } from "../core/picture_view.js" */
/** @import { Mark } from "../core/scene.js" */
/** @import { ArrayName, InsideData, MathNode } from "./data.js" */
/** @import { InsideAt, InsidePlan, Part } from "./plan.js" */

const PACE = 2400; // ms a step, while it plays
const NARROW = 640; // CSS pixels: the words about a step take more lines

/** @extends {PictureView<InsideData, InsideAt, InsidePlan>} */
export class InsideHead extends PictureView {
  constructor() {
    super();
    this.title = make("h3", { class: "hl-title" });
    this.chips = make("div", { class: "hl-steps", role: "group", "aria-label": "Steps" });
    this.back = button("Back", () => this.go(this.step - 1));
    this.play = button("Play", () => (this.timer ? this.stop() : this.start()));
    this.next = button("Next", () => this.go(this.step + 1));
    const walk = make("div", { class: "hl-walk" }, this.back, this.play, this.next);
    this.equation = make("div", { class: "hl-equation", role: "group", "aria-label": "Equation" });
    this.says = make("div", { "aria-live": "polite" });
    this.shape = make("div", { class: "hl-quiet" });
    this.code = make("code");
    const explanation = make("div", { class: "hl-told" }, this.equation,
      make("div", {}, this.says, this.shape, this.code));
    this.root.prepend(this.title, make("div", { class: "hl-bar" }, this.chips, walk), explanation);
    this.scroll.classList.add("hl-inside");
    // the picture has no keys but those that scroll it: the table says what is in it
    this.scroll.setAttribute("role", "group");
    this.step = 0;
    this.heard = -1; // the step that the host named last
    /** @type {number | null} */
    this.awaited = null; // the step of the last click, until the host names it, too
    this.onHistory = (/** @type {PopStateEvent} */ { isTrusted }) => isTrusted && this.restore();
    addEventListener("popstate", this.onHistory);
    this.names = "";
    /** @type {HTMLButtonElement[]} */
    this.stepButtons = [];
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined; // while it plays
    /** @type {Mark[]} */
    this.picture = []; // without what the pointer adds
    this.heights = { least: 0, width: 0, tallest: 0 };
  }

  remove() {
    this.stop();
    removeEventListener("popstate", this.onHistory);
    super.remove();
  }

  update() {
    const { data } = this;
    this.follow(data.step);
    this.at = null;
    this.title.textContent = `${data.title} · ${data.query}`;
    this.root.setAttribute("aria-label", this.title.textContent);
    this.scroll.setAttribute("aria-label", `${this.title.textContent}: the picture`);
    this.note.textContent = noteOn(data);
    this.table.replaceChildren(...tableOf(this.title.textContent,
      ["key", "q · k", data.factor, "mask", "softmax"], tableRows(data)));
    this.showChips();
    this.showStep();
  }

  /**
   * Go where the host goes by itself, for a link or for Back. What it says before it answers the
   * last click is of clicks before that; a step that it names once more is none that it goes to: it
   * hears nothing of a walk that plays.
   * @param {number} step
   */
  follow(step) {
    if (step === this.awaited) this.awaited = null;
    else if (this.awaited === null && step !== this.heard) this.step = step;
    this.heard = step;
    this.step = within(this.step, 0, this.last()); // other data can have fewer steps
  }

  /** Go Back or Forward: the last click may stay unanswered, the next data count. */
  restore() {
    this.stop();
    this.awaited = null;
    this.set(this.heard);
  }

  last() {
    return this.data.steps.length - 1;
  }

  /** Make one button for each step; anew only for other steps, so that they keep the focus. */
  showChips() {
    const names = this.data.steps.map(({ name }) => name);
    if (this.names === names.join("\n")) return;
    this.names = names.join("\n");
    this.stepButtons = names.map((name, n) => button(name, () => this.go(n)));
    this.chips.replaceChildren(...this.stepButtons);
  }

  /**
   * Go to a step by hand: playing ends, and the host hears of it. Nothing lies past the ends.
   * @param {number} step
   */
  go(step) {
    this.stop();
    if (!this.data.steps[step]) return;
    this.set(step);
    // the host sends nothing that is as before, but it may have a click to answer before this one
    this.awaited = step === this.heard && this.awaited === null ? null : step;
    this.options.onSelect?.(step);
  }

  /** @param {number} step */
  set(step) {
    this.step = within(step, 0, this.last());
    this.showStep();
    this.layOut();
  }

  start() {
    this.set(this.step === this.last() ? 1 : this.step + 1);
    this.timer = setInterval(() => {
      if (this.step === this.last()) this.stop();
      else this.set(this.step + 1);
    }, PACE);
    this.play.textContent = "Pause";
  }

  stop() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.play.textContent = "Play";
  }

  /** Show the words above the picture. */
  showStep() {
    const { equation, says, shape, code } = this.data.steps[this.step];
    this.equation.replaceChildren(mathElement(["math", [equation]]));
    this.says.textContent = says;
    this.shape.textContent = shape;
    this.code.textContent = code;
    this.stepButtons.forEach((node, n) =>
      node.setAttribute("aria-pressed", String(n === this.step)));
    // not `disabled`: a button that is disabled while it has the focus loses it
    this.back.setAttribute("aria-disabled", String(this.step === 0));
    this.next.setAttribute("aria-disabled", String(this.step === this.last()));
  }

  /** @param {number} width */
  arrange(width) {
    const { data, step, theme } = this;
    this.root.classList.toggle("hl-narrow", width < NARROW);
    this.plan = planInside(data, step, width, this.measure);
    this.setRoom();
    this.keepHeight(width);
    for (const node of [this.scroll, this.equation]) setTabStop(node);
    const ratio = window.devicePixelRatio || 1;
    this.picture = insideMarks({ data, plan: this.plan, theme, step, ratio });
  }

  /** Keep the height of the tallest step, so that the page below does not jump.
   * @param {number} width */
  keepHeight(width) {
    const { least, height } = this.plan;
    const same = this.heights.least === least && this.heights.width === width;
    const tallest = Math.max(same ? this.heights.tallest : 0, height);
    this.heights = { least, width, tallest };
    this.frame.style.minHeight = `${tallest}px`;
  }

  /** Add the row under the pointer to the picture: a move of the pointer copies no values.
   * @param {Visible} visible */
  marks({ x }) {
    const part = this.at && partAt(this.plan, this.step, this.at);
    const row = this.at && part?.perKey ? [rowMark(this.plan, this.theme, this.at.row)] : [];
    return [group([...row, ...this.picture], { x: -x })];
  }

  /** @param {number} x @param {number} y */
  hit(x, y) {
    return hitInside(this.plan, this.step, x, y);
  }

  /** @param {InsideAt} at */
  tipNodes(at) {
    const part = partAt(this.plan, this.step, at);
    if (!part) return null;
    const [name, value] = wordsOf(this.data, part, at);
    return [name, make("strong", {}, value)];
  }

  /** @param {InsideAt} at */
  boxOf(at) {
    const { x, y, width, height, columns, rows } =
      /** @type {Part} */ (partAt(this.plan, this.step, at));
    const [wide, high] = [width / columns, height / rows];
    const [left, top] = [x + at.column * wide, y + at.row * high];
    return { left, top, right: left + wide, bottom: top + high };
  }

  /** Save the picture on the screen, without the pointer. */
  sheet() {
    const { data } = this;
    const { name, says, shape } = data.steps[this.step];
    return {
      name: `${data.title} ${name}`, title: this.title.textContent ?? "", lines: [says, shape],
      marks: this.picture, note: noteOn(data),
    };
  }
}

/** @param {MathNode} node */
function mathElement([name, inside]) {
  /** @type {Element} */
  const node = document.createElementNS("http://www.w3.org/1998/Math/MathML", name);
  node.append(...(typeof inside === "string" ? [inside] : inside.map(mathElement)));
  return node;
}

const NAMES = {
  x: "x", q: "q", k: "k", v: "v", products: "q ∘ k", dots: "q · k", seen: "mask",
  weights: "α", weighted: "α v", z: "z", result: "what this head adds",
  others: "what the other heads add", added: "x + all heads", normalised: "LayerNorm",
};

/**
 * @param {InsideData} data
 * @param {Pick<Part, "name" | "perKey" | "columns">} part
 * @param {{row: number, column: number}} at
 * @returns {[what: string, value: string]}
 */
export function wordsOf(data, { name, perKey, columns }, { row, column }) {
  const value = data.arrays[name][row * columns + column];
  const key = perKey ? ` · ${quote(data.keys[row])}` : "";
  const nth = columns > 1 ? ` · ${column + 1} of ${columns}` : "";
  switch (name) {
    case "seen": return [NAMES.seen + key, value ? "seen" : "hidden"];
    case "scaled": return [`q · k ${data.factor}${key}`, figure(value)];
    case "norms": return [`length of what head ${column + 1} adds`, figure(value)];
    case "concat": return [concatName(data, column), figure(value)];
    default: return [NAMES[name] + key + nth, figure(value)];
  }
}

/** @param {InsideData} data @param {number} column among the values of all heads */
function concatName({ shapes, head }, column) {
  const [, width] = shapes.concat;
  const which = Math.floor(column / width);
  const own = which === head ? ", this one" : "";
  return `z of head ${which + 1}${own} · ${(column % width) + 1}`;
}

/** List the numbers of each key, as rows of a table. @param {InsideData} data */
export const tableRows = ({ keys, arrays: { dots, scaled, seen, weights } }) =>
  keys.map((key, n) => [
    key, figure(dots[n]), figure(scaled[n]), seen[n] ? "seen" : "hidden", figure(weights[n]),
  ]);

/** Explain the colours. @param {InsideData} data */
function noteOn({ ends }) {
  /** @param {ArrayName} name */
  const end = (name) => figure(ends[name] ?? 1);
  return `Olive is below 0, purple above. Colours stay the same from ±${end("q")} on for q, ±${
    end("k")} for k, ±${end("v")} for v and z, ±${end("x")} in the stream.`;
}
