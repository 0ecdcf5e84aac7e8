// The inside of a head: one query word, every number between x and the stream, step by step or as
// one picture. Steps, play and back are answered here, without the server.

import {
  figure, framed, make, mounted, placeTip, quote, readTheme, size, unpack, watch, within,
} from "./shared.js";
import { saveButtons } from "./save.js";
import { arraysOf, drawInside, endsOf } from "./inside_paint.js";
import { LETTERS, planInside } from "./inside_plan.js";

const PACE = 2400; // ms a step, while it plays
const NARROW = 640; // CSS pixels: what is told takes more lines

const WHAT = {
  x: "x", q: "q", k: "k", v: "v", products: "q ∘ k", dots: "q · k", scaled: "scaled",
  weights: "α", weighted: "α v", z: "z", concat: "z", result: "what this head adds",
  others: "what the other heads add", added: "x + all heads", normalised: "LayerNorm",
};

const views = new WeakMap();

/**
 * @param {Element|ShadowRoot} element is filled; call again to show other data in the same place
 * @param {object} data what `unpack` gives of an inside packet
 * @param {{onStep?: (step: number) => void, theme?: "light"|"dark"}} options
 * @returns {() => void} takes it away again
 */
export function render(element, data, options = {}) {
  const view = mounted(element, views, () => new InsideHead());
  view.show(data, options);
  return () => {
    views.delete(element);
    view.remove();
  };
}

export default function streamlit({ data, parentElement, setStateValue }) {
  return render(parentElement, unpack(data), { onStep: (step) => setStateValue("step", step) });
}

class InsideHead {
  constructor() {
    this.title = make("h3", { class: "hl-title" });
    this.chips = make("div", { class: "hl-steps", role: "group", "aria-label": "Steps" });
    this.back = this.button("Back", () => this.go(this.step - 1));
    this.play = this.button("Play", () => (this.timer ? this.stop() : this.start()));
    this.next = this.button("Next", () => this.go(this.step + 1));
    const walk = make("div", { class: "hl-walk" }, this.back, this.play, this.next);
    this.equation = make("div", { class: "hl-equation" });
    this.says = make("div", { "aria-live": "polite" });
    this.shape = make("div", { class: "hl-quiet" });
    this.code = make("code");
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.scroll = make("div", { class: "hl-scroll hl-inside" }, this.canvas);
    this.tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
    this.frame = framed(this.scroll, this.tip);
    this.note = make("span");
    this.table = make("table");
    const told = make("div", { class: "hl-told" }, this.equation,
      make("div", {}, this.says, this.shape, this.code));
    this.root = make("div", { class: "hl", role: "group" }, this.title,
      make("div", { class: "hl-bar" }, this.chips, walk), told, this.frame,
      make("div", { class: "hl-foot" }, this.note, saveButtons(() => this.sheet())),
      make("div", { class: "hl-unseen" }, this.table));
    this.step = null;
    this.at = null; // {part, row, column} under the pointer
    this.scroll.addEventListener("pointermove", (event) => this.point(this.under(event)));
    this.scroll.addEventListener("pointerleave", () => this.point(null));
    this.unwatch = watch(this.root, () => this.layOut());
  }

  button(text, act) {
    const node = make("button", { type: "button" }, text);
    node.addEventListener("click", act);
    return node;
  }

  remove() {
    this.stop();
    this.unwatch();
    this.root.remove();
  }

  show(data, options) {
    this.options = options;
    // what a link asks for counts once; from then on the reader walks
    if (this.step === null) this.step = within(data.step, 0, data.steps.length - 1);
    this.data = data;
    this.arrays = arraysOf(data);
    this.ends = endsOf(this.arrays);
    this.at = null;
    this.title.textContent = `${data.title} · ${quote(data.query)} looks`;
    this.root.setAttribute("aria-label", this.title.textContent);
    this.showChips();
    this.table.replaceChildren(...this.rows());
    this.tell();
    this.layOut();
  }

  /** One button for each step; made anew only for other steps, so that they keep the focus. */
  showChips() {
    const names = this.data.steps.map((step) => step.name);
    if (this.named === names.join("\n")) return;
    this.named = names.join("\n");
    this.stepButtons = names.map((name, n) => this.button(name, () => this.go(n)));
    this.chips.replaceChildren(...this.stepButtons);
  }

  /** To a step, by hand: playing ends, and the host hears of it. */
  go(step) {
    this.stop();
    this.set(step);
    this.options.onStep?.(this.step);
  }

  set(step) {
    this.step = within(step, 0, this.data.steps.length - 1);
    this.tell();
    this.layOut();
  }

  start() {
    const last = this.data.steps.length - 1;
    this.set(this.step === last ? 1 : this.step + 1);
    this.timer = setInterval(() => {
      if (this.step === last) this.stop();
      else this.set(this.step + 1);
    }, PACE);
    this.play.textContent = "Pause";
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "Play";
  }

  /** The words above the picture. */
  tell() {
    const { steps } = this.data;
    const { equation, says, shape, code } = steps[this.step];
    this.equation.replaceChildren(element("math", [equation]));
    this.says.textContent = says;
    this.shape.textContent = shape;
    this.code.textContent = code;
    this.stepButtons.forEach((node, n) =>
      node.setAttribute("aria-pressed", String(n === this.step)));
    this.back.disabled = this.step === 0;
    this.next.disabled = this.step === steps.length - 1;
  }

  layOut() {
    const width = this.root.clientWidth;
    if (!this.data || !width) return;
    this.root.classList.toggle("hl-narrow", width < NARROW);
    const context = this.canvas.getContext("2d");
    this.theme = readTheme(this.root, context, this.options.theme);
    context.font = `600 ${LETTERS}px ${this.theme.font}`;
    const measure = (text) => context.measureText(text).width;
    this.plan = planInside(this.data, this.step, width, measure);
    // the picture of another step may be lower: what stands under it does not jump
    const { least } = this.plan;
    if (this.least !== least || this.wide !== width) this.tallest = 0;
    [this.least, this.wide] = [least, width];
    this.tallest = Math.max(this.tallest, this.plan.height);
    this.frame.style.minHeight = `${this.tallest}px`;
    this.note.textContent = `Olive is below 0, purple above. Colours stay the same from ±${
      figure(this.ends.q)} on for q, ±${figure(this.ends.k)} for k, ±${
      figure(this.ends.v)} for v and z, ±${figure(this.ends.x)} in the stream.`;
    this.draw();
  }

  draw() {
    if (!this.plan) return;
    drawInside(size(this.canvas, this.plan.width, this.plan.height), this.scene(this.step));
    const { step, plan, theme, arrays } = this;
    const plain = Object.fromEntries(Object.entries(arrays).map(([k, v]) => [k, Array.from(v)]));
    this.root.__headlight = {
      step, arrays: plain, theme: theme.name, playing: Boolean(this.timer), keys: this.data.keys,
      query: this.data.query, title: this.data.title, plan,
    };
  }

  scene(step) {
    const { data, arrays, ends, plan, theme, at } = this;
    return { data, arrays, ends, plan, theme, at, step };
  }

  /** For a file: what is on the screen, without the pointer. */
  sheet() {
    const { data, theme, plan } = this;
    const step = data.steps[this.step];
    return {
      name: `${data.title} ${step.name}`, title: this.title.textContent, theme,
      lines: [step.says, step.shape], width: plan.width, height: plan.height,
      note: this.note.textContent, legend: [],
      draw: (context) => drawInside(context, { ...this.scene(this.step), at: null }),
    };
  }

  under(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const part = this.plan.parts.find((one) => (!this.step || one.step <= this.step)
      && x >= one.x && x < one.x + one.width && y >= one.y && y < one.y + one.height);
    if (!part) return null;
    const rows = part.rows ? this.data.keys.length : 1;
    const columns = this.arrays[part.name].length / rows;
    return {
      part, columns,
      row: Math.floor(((y - part.y) / part.height) * rows),
      column: Math.floor(((x - part.x) / part.width) * columns),
    };
  }

  point(at) {
    const moved = this.at?.row !== at?.row || Boolean(this.at) !== Boolean(at);
    this.at = at;
    if (moved) this.draw();
    this.tip.hidden = !at;
    if (!at) return;
    const { part, row, column, columns } = at;
    const wide = part.width / columns;
    const high = part.rows ? this.plan.row : part.height;
    this.tip.replaceChildren(...this.words(at));
    const x = part.x + column * wide - this.scroll.scrollLeft;
    const y = part.y + row * high;
    placeTip(this.tip, this.frame, { left: x, right: x + wide, top: y, bottom: y + high });
  }

  /** What a value is, and the value. */
  words({ part, row, column, columns }) {
    const { keys, factor, head, shapes } = this.data;
    const value = this.arrays[part.name][row * columns + column];
    const of = part.rows ? ` · ${quote(keys[row])}` : "";
    const number = make("strong", {}, figure(value));
    if (part.name === "seen") return [`mask${of}`, make("strong", {}, value ? "seen" : "hidden")];
    if (part.name === "scaled") return [`q · k ${factor}${of}`, number];
    if (part.name === "norms") return [`length of what head ${column + 1} adds`, number];
    if (part.name === "concat") {
      const width = shapes.concat[1];
      const which = Math.floor(column / width);
      const own = which === head ? ", this one" : "";
      return [`z of head ${which + 1}${own} · ${(column % width) + 1}`, number];
    }
    const nth = columns > 1 ? ` · ${column + 1} of ${columns}` : "";
    return [`${WHAT[part.name]}${of}${nth}`, number];
  }

  /** The numbers of each key as a table, for those who do not see the picture. */
  rows() {
    const { keys, factor } = this.data;
    const { dots, scaled, seen, weights } = this.arrays;
    const cells = (tag, texts) => make("tr", {}, ...texts.map((text) => make(tag, {}, text)));
    return [
      make("caption", {}, this.title.textContent),
      cells("th", ["key", "q · k", factor, "mask", "softmax"]),
      ...keys.map((key, n) => cells("td", [
        key, figure(dots[n]), figure(scaled[n]), seen[n] ? "seen" : "hidden", figure(weights[n]),
      ])),
    ];
  }
}

/** A MathML element from its name, and its text or its children. */
function element(name, inside) {
  const node = document.createElementNS("http://www.w3.org/1998/Math/MathML", name);
  node.append(...(typeof inside === "string" ? [inside] : inside.map((one) => element(...one))));
  return node;
}
