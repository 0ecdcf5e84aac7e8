// Layout of masks, and the square at a place.

import { ARROWS } from "../core/dom.js";
import { EDGE } from "../core/picture_view.js";
import { within } from "../core/text.js";

/** @import { MaskGrid } from "./data.js" */

/** @typedef {Pick<MaskGrid, "queries" | "keys">} Words */
/** @typedef {{row: number, key: number}} Square */

/**
 * @typedef {object} MasksPlan for all grids, so that sentences can be compared
 * @property {number} square side of a square
 * @property {number} left where the squares begin
 * @property {number} top
 * @property {number} font size of the letters
 */

const SQUARE = { largest: 26, smallest: 13 };
const LETTERS = 13;
const WIDEST = 600; // of a grid that has to share the page's width
export const LONGEST = 120; // of a word at the side, CSS pixels; all of it is a hover away

/**
 * @param {Words[]} grids
 * @param {number} width of the page's column
 * @param {number} tallest height that is in sight
 * @param {import("../core/theme.js").Measure} measure
 * @returns {MasksPlan}
 */
export function planMasks(grids, width, tallest, measure) {
  // the bold of a word that is pointed at is the widest
  /** @param {string[]} tokens */
  const room = (tokens) =>
    Math.min(LONGEST, Math.ceil(Math.max(...tokens.map((token) => measure(token, LETTERS, 600)))));
  const left = room(grids.flatMap(({ queries }) => queries)) + EDGE;
  const top = room(grids.flatMap(({ keys }) => keys)) + EDGE;
  const side = Math.max(...grids.flatMap(({ queries, keys }) => [queries.length, keys.length]));
  const fits = Math.floor(Math.min(Math.min(width, WIDEST) - left, tallest - top) / side);
  const square = within(fits, SQUARE.smallest, SQUARE.largest);
  return { square, left, top, font: Math.min(LETTERS, square - 2) };
}

/**
 * Measure a grid with its words.
 * @param {MasksPlan} plan
 * @param {Words} grid
 * @returns {[width: number, height: number]}
 */
export const extent = ({ square, left, top }, { queries, keys }) =>
  [left + keys.length * square + 2, top + queries.length * square + 2];

/**
 * Find the square at a place; beside a row's word, the first of the row.
 * @param {MasksPlan} plan
 * @param {Words} grid
 * @param {number} x
 * @param {number} y
 * @returns {Square | null}
 */
export function hitMask({ square, left, top }, { queries, keys }, x, y) {
  const row = Math.floor((y - top) / square);
  const key = Math.floor((x - left) / square);
  if (row < 0 || row >= queries.length || key >= keys.length) return null;
  return { row, key: Math.max(key, 0) };
}

/**
 * The square that a key of the keyboard leads to.
 * @param {Words} grid
 * @param {Square} at before the first square of a row its key is -1
 * @param {string} pressed
 * @returns {Square | null}
 */
export function moved({ queries, keys }, { row, key }, pressed) {
  if (!(pressed in ARROWS)) return null;
  if (key < 0) return { row, key: 0 }; // from outside every key leads in
  const [right, down] = ARROWS[pressed];
  return {
    row: within(row + down, 0, queries.length - 1),
    key: within(key + right, 0, keys.length - 1),
  };
}
