// Layout of a tensor's rows and columns: all of them in the frame's width.

import { ARROWS } from "../core/dom.js";
import { EDGE } from "../core/picture_view.js";
import { within } from "../core/text.js";

/** @import { StripData } from "./data.js" */

const ROW = { largest: 20, smallest: 12 };
const COLUMN = 28; // of a named column, at most
const WIDEST_WORDS = 0.4; // of the frame
const TALL = 360; // rows shrink until all fit in here
export const LETTERS = 12;

/**
 * @typedef {object} StripPlan
 * @property {number} left where the values begin, right of the words
 * @property {number} row height of one
 * @property {number} wide width of all values together
 * @property {number} width
 * @property {number} height
 */

/** @typedef {{row: number, column: number}} StripAt a value that is pointed at */

/**
 * @param {Pick<StripData, "rows" | "columns" | "columnNames">} data
 * @param {number} width of the frame
 * @param {import("../core/theme.js").Measure} measure
 * @returns {StripPlan}
 */
export function planStrip({ rows, columns, columnNames }, width, measure) {
  const words = Math.max(...rows.map((word) => measure(word, LETTERS, 400)));
  const left = Math.ceil(Math.min(Math.ceil(words), width * WIDEST_WORDS)) + EDGE;
  const row = within(Math.floor(TALL / rows.length), ROW.smallest, ROW.largest);
  const wide = Math.min(width - left, columnNames ? columns * COLUMN : Infinity);
  return { left, row, wide, width: left + wide, height: rows.length * row };
}

/**
 * @param {Pick<StripData, "rows" | "columns">} data
 * @param {StripPlan} plan
 * @param {number} x of the picture
 * @param {number} y
 * @returns {StripAt | null}
 */
export function hitStrip({ rows, columns }, { left, wide, row: high }, x, y) {
  const at = { row: Math.floor(y / high), column: Math.floor(((x - left) / wide) * columns) };
  const inside = at.row >= 0 && at.row < rows.length && at.column >= 0 && at.column < columns;
  return inside ? at : null;
}

/**
 * The value that an arrow key leads to: from none, to the first.
 * @param {Pick<StripData, "rows" | "columns">} data
 * @param {StripAt | null} at
 * @param {string} key
 * @returns {StripAt | null} null for any other key
 */
export function moved({ rows, columns }, at, key) {
  if (!Object.hasOwn(ARROWS, key)) return null;
  if (!at) return { row: 0, column: 0 };
  const [right, down] = ARROWS[key];
  return {
    row: within(at.row + down, 0, rows.length - 1),
    column: within(at.column + right, 0, columns - 1),
  };
}
