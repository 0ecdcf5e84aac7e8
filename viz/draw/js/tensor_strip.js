// One tensor, large: tokens down the side, features across. Pointer and keys are answered here,
// from the exact values.

import {
  EDGE, figure, framed, isolate, make, mounted, placeTip, quote, readTheme, signedPicture, size,
  unpack, watch, within,
} from "./shared.js";
import { saveButtons } from "./save.js";

const ROW = { largest: 20, smallest: 12 };
const LETTERS = 12;
const COLUMN = 28; // of a named column, at most
const WIDEST_LABELS = 0.4; // of the frame
const TALL = 360; // rows shrink until all fit in here
const HELP = "Arrow keys move over the values.";

const views = new WeakMap();

/**
 * @param {Element|ShadowRoot} element is filled; call again to show other data in the same place
 * @param {object} data what `unpack` gives of a tensor packet
 * @param {{theme?: "light"|"dark"}} options
 * @returns {() => void} takes it away again
 */
export function render(element, data, options = {}) {
  const view = mounted(element, views, () => new TensorStrip());
  view.show(data, options);
  return () => {
    views.delete(element);
    view.remove();
  };
}

export default function streamlit({ data, parentElement }) {
  return render(parentElement, unpack(data));
}

class TensorStrip {
  constructor() {
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.scroll = make("div", {
      class: "hl-scroll", tabindex: "0", role: "application",
    }, this.canvas);
    this.tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
    this.frame = framed(this.scroll, this.tip);
    this.note = make("span");
    this.live = make("div", { class: "hl-unseen", "aria-live": "polite" });
    const foot = make("div", { class: "hl-foot" }, this.note, saveButtons(() => this.sheet()));
    this.root = make("div", { class: "hl" }, this.frame, foot, this.live);
    this.at = null; // {row, column} under the pointer or the cursor
    this.canvas.addEventListener("pointermove", (event) => this.point(this.under(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.scroll.addEventListener("keydown", (event) => this.onKey(event));
    this.scroll.addEventListener("blur", () => this.point(null));
    this.unwatch = watch(this.root, () => this.draw());
  }

  remove() {
    this.unwatch();
    this.root.remove();
  }

  show(data, options) {
    this.data = data;
    this.options = options;
    this.at = null;
    this.draw();
  }

  draw() {
    const width = this.root.clientWidth;
    if (!this.data || !width) return;
    const { rows, columns, title, end, columnNames } = this.data;
    const pen = this.canvas.getContext("2d");
    this.theme = readTheme(this.root, pen, this.options.theme);
    pen.font = `400 ${LETTERS}px ${this.theme.font}`;
    const words = Math.ceil(Math.max(...rows.map((row) => pen.measureText(row).width)));
    const left = Math.ceil(Math.min(words, width * WIDEST_LABELS)) + EDGE;
    const row = within(Math.floor(TALL / rows.length), ROW.smallest, ROW.largest);
    const room = width - left;
    const wide = columnNames ? Math.min(room, columns * COLUMN) : room;
    const high = rows.length * row;
    const most = words > left - EDGE ? left - EDGE : undefined; // of a word's width
    this.plan = { left, row, wide, high, most };
    const context = size(this.canvas, width, high);
    this.paint(context);
    const what = columnNames ? "pieces" : "features";
    const mixed = columns > wide * (window.devicePixelRatio || 1)
      ? " Where features are narrower than a pixel, their colours are mixed." : "";
    this.note.textContent = `${rows.length} tokens × ${columns.toLocaleString("en")} ${what}. `
      + `Olive is below 0, purple above; from ±${figure(end)} on the colour stays.${mixed}`;
    this.scroll.setAttribute("aria-label", `${title}. ${this.note.textContent} ${HELP}`);
    this.tell();
    this.root.__headlight = { ...this.data, plan: this.plan, theme: this.theme.name };
  }

  paint(context) {
    this.paintRows(context);
    this.paintValues(context);
  }

  paintRows(context) {
    const { left, row, most } = this.plan;
    context.fillStyle = this.theme.ink;
    context.font = `400 ${LETTERS}px ${this.theme.font}`;
    context.textAlign = "right";
    context.textBaseline = "middle";
    this.data.rows.forEach((word, n) => {
      context.fillText(isolate(word), left - EDGE, (n + 0.5) * row, most); // squeezed, never cut
    });
  }

  paintValues(context) {
    const { rows, columns, weights, end } = this.data;
    const { left, wide, high } = this.plan;
    const colors = this.data.palette[this.theme.name];
    const picture = signedPicture(weights, columns, rows.length, colors, end);
    context.imageSmoothingEnabled = columns > wide * (window.devicePixelRatio || 1);
    context.drawImage(picture, 0, 0, columns, rows.length, left, 0, wide, high);
  }

  /** What is saved. */
  sheet() {
    const { title } = this.data;
    return {
      name: title, title, theme: this.theme, lines: [],
      width: this.plan.left + this.plan.wide, height: this.plan.high,
      note: this.note.textContent, legend: [], draw: (context) => this.paint(context),
    };
  }

  under({ offsetX, offsetY }) {
    const { left, wide, row } = this.plan;
    const column = Math.floor(((offsetX - left) / wide) * this.data.columns);
    const at = { row: Math.floor(offsetY / row), column };
    const inside = column >= 0 && column < this.data.columns && at.row < this.data.rows.length;
    return inside ? at : null;
  }

  point(at) {
    this.at = at;
    this.tell();
  }

  onKey(event) {
    const step = STEPS[event.key];
    if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const { row, column } = this.at ?? { row: 0, column: 0 };
    this.point(this.at ? {
      row: within(row + step[1], 0, this.data.rows.length - 1),
      column: within(column + step[0], 0, this.data.columns - 1),
    } : { row, column });
    this.live.textContent = this.tip.textContent;
  }

  tell() {
    this.tip.hidden = !this.at;
    if (!this.at) return;
    const { row, column } = this.at;
    const { columns, columnNames, rows, weights } = this.data;
    const value = weights[row * columns + column];
    const name = columnNames ? quote(columnNames[column]) : `feature ${column + 1}`;
    this.tip.replaceChildren(`${quote(rows[row])} · ${name}`,
      make("strong", {}, figure(value)));
    const { left, wide } = this.plan;
    const x = left + (column / columns) * wide;
    const y = row * this.plan.row - this.scroll.scrollTop;
    placeTip(this.tip, this.frame, {
      left: x, right: x + wide / columns, top: y, bottom: y + this.plan.row,
    });
  }
}

const STEPS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
