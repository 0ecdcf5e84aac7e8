// One tensor, large: tokens down the side, features across. Pointer and keys are answered here,
// from the exact values.

import { PictureView } from "../core/picture_view.js";
import { figure, quote } from "../core/text.js";
import { isMixed, stripMarks } from "./marks.js";
import { hitStrip, moved, planStrip } from "./plan.js";

/** @import { StripData } from "./data.js" */
/** @import { StripAt, StripPlan } from "./plan.js" */

const HELP = "Arrow keys move over the values.";

/** @extends {PictureView<StripData, StripAt, StripPlan>} */
export class TensorStrip extends PictureView {
  constructor() {
    super();
    this.unseen.remove(); // too many values for a table: the arrow keys read them out
    /** @type {import("../core/scene.js").Mark[]} */
    this.picture = [];
  }

  update() {
    this.at = null;
  }

  /** @param {number} width */
  arrange(width) {
    const { data, theme } = this;
    this.plan = planStrip(data, width, this.measure);
    this.setRoom();
    const mixed = isMixed(data.columns, this.plan, window.devicePixelRatio || 1);
    this.picture = stripMarks(data, this.plan, theme, mixed);
    this.note.textContent = noteOn(data, mixed);
    this.setLabel(data.title, `${this.note.textContent} ${HELP}`);
  }

  marks() {
    return this.picture;
  }

  /** @param {number} x @param {number} y */
  hit(x, y) {
    return hitStrip(this.data, this.plan, x, y);
  }

  /** @param {string} key */
  target(key) {
    return moved(this.data, this.at, key);
  }

  /** @param {StripAt} at */
  words({ row, column }) {
    const { rows, columns, columnNames, values } = this.data;
    const name = columnNames ? quote(columnNames[column]) : `feature ${column + 1}`;
    return [`${quote(rows[row])} · ${name}`, figure(values[row * columns + column])];
  }

  /** @param {StripAt} at */
  boxOf({ row, column }) {
    const { left, row: high, wide } = this.plan;
    const width = wide / this.data.columns;
    const [x, y] = [left + column * width, row * high];
    return { left: x, right: x + width, top: y, bottom: y + high };
  }

  sheet() {
    const { data: { title }, note } = this;
    return { name: title, title, marks: this.picture, note: note.textContent ?? "" };
  }
}

/** @param {StripData} data @param {boolean} mixed */
function noteOn({ rows, columns, columnNames, end, values }, mixed) {
  const unit = columnNames ? "pieces" : "features";
  const more = mixed ? " Where features are narrower than a pixel, their colours are mixed." : "";
  const colours = values.some((value) => value < 0)
    ? `Olive is below 0, purple above; from ±${figure(end)} on the colour stays.`
    : `Nothing is below 0; the larger, the more purple, up to ${figure(end)}.`;
  return `${rows.length} tokens × ${columns.toLocaleString("en")} ${unit}. ${colours}${more}`;
}
