// Figure 1 with a sentence in it: one picture, and over each box a transparent button, which has
// the focus, the name and the outline. Opening a box is the host's business; it hears its name.

import { paint, sized } from "../core/canvas.js";
import { isShortcut, make } from "../core/dom.js";
import { heightInSight } from "../core/picture_view.js";
import { cssColor } from "../core/raster.js";
import { SHARP } from "../core/save.js";
import { rect } from "../core/scene.js";
import { View } from "../core/view.js";
import { modelMarks } from "./marks.js";
import { nextBox, planModel } from "./plan.js";

const DESCRIPTION = "The Transformer of Figure 1. The encoder stands on the left, the decoder on "
  + "the right; both are read from the foot up. Each box is a button that opens it; arrow keys "
  + "move from box to box.";
const STRIPS = "Strips: a row for each token, a column for each feature;";
const SCALES = "each strip on its own scale.";
const MAPS = "Maps: one for each head, from 0 to 1; rows look at columns.";
const AROUND = 175; // bar, controls and foot, CSS pixels
const DOT = 12; // of the legend in what is saved
const [BELOW, ABOVE] = [28, 228]; // places in the colours of differences, for the legend

/** @extends {View<import("./data.js").ModelData>} */
export class Architecture extends View {
  constructor() {
    super();
    this.root.setAttribute("aria-label", DESCRIPTION);
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.box = make("div", { class: "hl-arch" }, this.canvas);
    this.key = make("div", { class: "hl-arch-key" });
    const foot = make("div", { class: "hl-foot" }, this.saveButtons());
    this.root.append(this.box, this.key, foot, this.live);
    /** @type {Map<string, HTMLButtonElement>} */
    this.buttons = new Map(); // by the box's name
    this.selected = "";
    /** @type {import("./plan.js").ModelPlan} */
    this.plan;
    this.box.addEventListener("click", ({ target }) => this.pick(target));
    this.box.addEventListener("keydown", (event) => this.onKey(event));
  }

  /** Buttons that stay are the same elements as before, so focus stays. */
  update() {
    const { boxes, selected } = this.data;
    const names = boxes.map(({ name }) => name);
    if (names.join() !== [...this.buttons.keys()].join()) {
      this.buttons = new Map(names.map((name) =>
        [name, make("button", { type: "button", class: "hl-box", name })]));
      this.box.replaceChildren(this.canvas, ...this.buttons.values());
    }
    for (const { name, label } of boxes) this.buttons.get(name)?.setAttribute("aria-label", label);
    this.select(selected);
  }

  /** @param {number} width */
  arrange(width) {
    this.plan = planModel(this.data.boxes, width, heightInSight(AROUND), this.measure);
    this.box.style.height = `${this.plan.height}px`;
    for (const [name, { style }] of this.buttons) {
      const { x, y, width: wide, height } = this.plan.boxes[name];
      Object.assign(style,
        { left: `${x}px`, top: `${y}px`, width: `${wide}px`, height: `${height}px` });
    }
    this.showKey();
  }

  /** Show the legend: over the encoder where there is room, else under the picture. */
  showKey() {
    const { free, narrow } = this.plan;
    Object.assign(this.key.style, narrow ? { left: "", width: "" }
      : { left: `${free.x}px`, width: `${free.width}px` });
    this.key.classList.toggle("hl-arch-key-over", !narrow);
    /** @param {string} color @param {string} words that no line break parts from it */
    const keyed = (color, words) => {
      const mark = make("span", { class: "hl-arch-dot" });
      mark.style.background = color;
      return make("span", { class: "hl-arch-keyed" }, mark, words);
    };
    const [below, above] = this.legendColors();
    this.key.replaceChildren(
      make("div", {},
        `${STRIPS} `, keyed(below, "below 0,"), " ", keyed(above, "above 0,"), ` ${SCALES}`),
      make("div", {}, MAPS),
    );
  }

  /** Get the colours below 0 and above it. */
  legendColors() {
    const colors = this.data.palettes.difference[this.theme.name];
    return [BELOW, ABOVE].map((level) => cssColor(colors, level));
  }

  draw() {
    const { width, height } = this.plan;
    const context = sized(this.canvas, width, height);
    paint(context, this.marks(this.canvas.width / width), this.theme.font);
  }

  /** @param {number} ratio */
  marks(ratio) {
    const { data, plan, theme } = this;
    return modelMarks({ data, plan, theme, ratio });
  }

  sheet() {
    const { data: { layer, layers }, plan: { width, height }, theme } = this;
    const title = `Transformer, layer ${layer + 1} of ${layers}`;
    /** @param {string} fill */
    const dot = (fill) =>
      ({ width: DOT, marks: [rect({ x: 0, y: 0, width: DOT, height: DOT, fill })] });
    const [below, above] = this.legendColors();
    return {
      name: title, title, theme, lines: [], width, height, note: "", marks: this.marks(SHARP),
      legend: [STRIPS, dot(below), "below 0,", dot(above), `above 0, ${SCALES}`, MAPS],
    };
  }

  /** @param {string} name */
  select(name) {
    this.selected = name;
    const root = /** @type {Document | ShadowRoot} */ (this.box.getRootNode());
    const { activeElement } = root;
    const inside = this.box.contains(activeElement);
    for (const [box, button] of this.buttons) {
      button.setAttribute("aria-pressed", String(box === name));
      button.tabIndex = (inside ? button === activeElement : box === name) ? 0 : -1;
    }
  }

  /** @param {EventTarget | null} target */
  pick(target) {
    const box = this.data.boxes.find(({ name }) => this.buttons.get(name) === target);
    if (!box) return;
    this.select(box.name); // at once: the answer from Python would be a moment late
    this.live.textContent = `Open: ${box.label}`;
    this.options.onSelect?.(box.name);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isShortcut(event) || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const { name } = /** @type {HTMLButtonElement} */ (event.target);
    const next = nextBox(this.plan.boxes, name, event.key);
    if (!next) return;
    for (const [box, button] of this.buttons) button.tabIndex = box === next ? 0 : -1;
    this.buttons.get(next)?.focus();
  }
}
