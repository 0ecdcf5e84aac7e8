// One head, large: what looks is down the side, what is looked at across the top. Pointer and keys
// are answered here, from the exact weights; the host hears nothing of it.

import { make, tableOf } from "../core/dom.js";
import { PictureView, heightInSight } from "../core/picture_view.js";
import { hidden, legend, legendNodes } from "../core/scale.js";
import { difference, looksMost, number, quote } from "../core/text.js";
import { averageRow, extended, paintedOf, rowOf } from "./data.js";
import { mapMarks, mapRaster } from "./marks.js";
import { columnAt, hitMap, originOf, planMap, staying } from "./plan.js";

/** @import { Visible } from "../core/picture_view.js" */
/** @import { MapData, Stroke } from "./data.js" */
/** @import { MapAt, MapPlan } from "./plan.js" */

const HELP = "Arrow keys move over the squares, Enter keeps a row, Escape lets it go.";
const PAINT_HELP = "Arrow keys move over the squares, Enter paints one or lets it go.";

/** @extends {PictureView<MapData, MapAt, MapPlan>} */
export class AttentionMap extends PictureView {
  constructor() {
    super();
    this.title = make("h3", { class: "hl-title" });
    this.axes = make("div", { class: "hl-axes" });
    this.legend = make("span", { class: "hl-legend" });
    this.root.prepend(this.title, this.axes);
    this.note.after(this.legend);
    /** @type {number | null} */
    this.pinned = null; // row
    /** @type {Stroke | null} */
    this.stroke = null;
    /** @type {MapData} */
    this.pressed; // the map under the stroke: while it is painted, another may arrive
    this.amount = number; // writes a weight
    /** @type {import("../core/raster.js").Raster} */
    this.raster;
    /** @type {Float32Array} */
    this.average;
  }

  listen() {
    super.listen();
    const { scroll } = this;
    scroll.addEventListener("pointerdown", (event) => this.beginStroke(event));
    scroll.addEventListener("pointermove", (event) => this.extendStroke(event));
    scroll.addEventListener("pointerup", () => this.endStroke(true));
    scroll.addEventListener("pointercancel", () => this.endStroke(false)); // it became a scroll
  }

  /** @param {PointerEvent} event */
  beginStroke(event) {
    const at = this.data.paints && event.button === 0 ? this.under(event) : null;
    if (at?.key == null) return;
    this.scroll.setPointerCapture(event.pointerId);
    this.pressed = this.data;
    this.stroke = { row: at.row, keys: [at.key] };
    this.draw();
  }

  /** Extend the stroke. Only the column counts: a hand that leaves the row still paints it.
   * @param {PointerEvent} event */
  extendStroke({ clientX }) {
    if (!this.stroke) return;
    const x = clientX - this.canvas.getBoundingClientRect().left;
    this.stroke = extended(this.stroke, columnAt(this.data, this.plan, x, this.visible()));
    this.draw();
  }

  /** @param {boolean} painted whether the page hears of it */
  endStroke(painted) {
    const { stroke } = this;
    if (!stroke) return;
    this.stroke = null;
    this.draw();
    if (painted) this.options.onSelect?.(paintedOf(this.pressed, stroke));
  }

  update() {
    const { data } = this;
    // other rows
    if (this.setTexts([data.kind, data.queries, data.keys])) {
      this.at = this.pinned = this.stroke = null;
    }
    this.title.textContent = data.title;
    this.setLabel(data.title, data.paints ? PAINT_HELP : HELP);
    this.axes.replaceChildren(...axes(data).map(([name, text]) =>
      make("div", {}, make("span", {}, name), make("span", {}, text))));
    this.note.textContent = data.note;
    this.average = averageRow(data);
    this.amount = data.signed ? difference : number;
    this.describe();
  }

  /** Write the table: for each row the key with the most weight, or the largest difference. */
  describe() {
    const { queries, keys, title, rows, columns, signed, amount = "weight" } = this.data;
    const [most, held] = signed ? ["each position differs most", "difference"]
      : [looksMost(amount), amount];
    this.table.replaceChildren(...tableOf(
      `${title}: where ${most}`, [rows, columns, held],
      queries.map((token, row) => {
        const weights = rowOf(this.data, row);
        const sizes = weights.map(Math.abs);
        const key = sizes.indexOf(Math.max(...sizes));
        return [token, keys[key], this.amount(weights[key])];
      }),
    ));
  }

  /** @param {number} width */
  arrange(width) {
    this.plan = planMap(this.data, width, heightInSight(), this.measure);
    this.setFrame(width);
    // a finger paints along a row, unless it has to scroll to the other columns
    this.scroll.style.touchAction = this.data.paints && this.plan.width <= width ? "pan-y" : "";
    const colors = this.data.palette[this.theme.name];
    this.raster = mapRaster(this.data, colors);
    this.legend.replaceChildren(...legendNodes(this.data, colors));
  }

  /** @param {Visible} visible */
  marks(visible) {
    return mapMarks(this.scene(visible, this.at));
  }

  /** @param {Visible} visible @param {MapAt | null} at */
  scene(visible, at) {
    const { data, plan, theme, measure, raster, average, pinned, stroke } = this;
    const { width, height } = visible;
    const origin = originOf(plan, visible);
    const shown = { average, pinned, stroke, at };
    return { data, plan, theme, measure, raster, ...shown, origin, width, height };
  }

  sheet() {
    const { data, plan: { width, height }, theme } = this;
    return {
      name: data.title, title: data.title, note: data.note,
      lines: axes(data).map((words) => words.join(" ")),
      legend: legend(data, data.palette[theme.name]),
      marks: mapMarks(this.scene({ x: 0, y: 0, width, height }, null)),
    };
  }

  /** @param {number} x @param {number} y @param {Visible} visible */
  hit(x, y, visible) {
    return hitMap(this.data, this.plan, x - visible.x, y - visible.y, visible);
  }

  /** @param {MapAt} at */
  pick({ row }) {
    if (this.data.paints) return; // the stroke was sent
    this.pinned = this.pinned === row ? null : row;
    this.draw();
  }

  /** @param {string} key */
  press(key) {
    const at = this.start();
    if (key === "Enter" || key === " ") {
      if (!this.data.paints) {
        this.pick(at);
        this.live.textContent = this.pinned == null ? "row let go"
          : `row ${quote(this.data.queries[at.row])} kept`;
      } else if (at.key != null) { // the page names the painted square
        this.options.onSelect?.(paintedOf(this.data, { row: at.row, keys: [at.key] }));
      }
    } else if (key === "Escape") {
      this.at = this.pinned = this.stroke = null;
      this.draw();
    } else return super.press(key);
    return true;
  }

  /** Get the square, or the word of a row, from which the keys lead on. @returns {MapAt} */
  start() {
    return this.at ?? { row: this.pinned ?? 0, key: null };
  }

  /** @param {string} key */
  target(key) {
    return moved(this.start(), key, this.data.queries.length, this.data.keys.length);
  }

  /** @param {MapAt} at a square */
  words({ row, key }) {
    const { causal, queries, keys, weights } = this.data;
    const column = key ?? 0;
    const weight = weights[row * keys.length + column];
    const amount = hidden(causal, row, column, weight) ? "hidden, it comes later"
      : this.amount(weight);
    return [`${quote(queries[row])} → ${quote(keys[column])}`, amount];
  }

  /** @param {MapAt} at */
  tipNodes(at) {
    if (at.key == null) return null;
    const [square, amount] = this.words(at);
    const name = this.data.rowNames?.[at.row];
    const row = name ? [make("div", {}, `This row ${name}.`)] : [];
    return [square, make("strong", {}, amount), ...row];
  }

  /** @param {MapAt} at a square */
  boxOf({ row, key }) {
    const { square, left: edge, top: head } = this.plan;
    const [left, top] = [edge + (key ?? 0) * square, head + row * square];
    return { left, top, right: left + square, bottom: top + square };
  }

  /** Get the part to scroll to, clear of the words that stay. @param {MapAt} at a square */
  roomOf(at) {
    const { left, top, right, bottom } = this.boxOf(at);
    const edge = staying(this.plan, this.scroll.clientWidth);
    return { left: left - edge, top: top - this.plan.top, right, bottom };
  }
}

/** @param {MapData} data */
const axes = (data) => [["Rows ↓", data.rows], ["Columns →", data.columns]];

/**
 * Find the square that a key leads to; from a row's word every key leads to the first.
 * @param {MapAt} at
 * @param {string} pressed
 * @param {number} rows
 * @param {number} keys
 * @returns {{row: number, key: number} | undefined}
 */
export function moved({ row, key }, pressed, rows, keys) {
  if (!/^Arrow|^Home$|^End$/.test(pressed)) return undefined;
  if (key == null) return { row, key: 0 };
  return {
    ArrowUp: { row: Math.max(0, row - 1), key },
    ArrowDown: { row: Math.min(rows - 1, row + 1), key },
    ArrowLeft: { row, key: Math.max(0, key - 1) },
    ArrowRight: { row, key: Math.min(keys - 1, key + 1) },
    Home: { row, key: 0 },
    End: { row, key: keys - 1 },
  }[pressed];
}
