// One head with its exact weights, and the layout of its large map. Nothing is cut: words are
// measured and get their room; a very long one over a column is squeezed. Squares are wider than
// high where there is room. A map with many words gets smaller squares and smaller letters, and
// below 10 px it scrolls instead.

import { EDGE } from "../core/picture_view.ts";
import { within } from "../core/text.ts";

/** @import { Place } from "../core/scene.ts" */

/**
 * @typedef {object} MapTexts the message of `encode_map` in viz/draw/attention_map.py
 * @property {"encoder_self" | "decoder_self" | "cross"} kind
 * @property {boolean} causal whether a query sees no later key
 * @property {string} title
 * @property {string} rows the name of the rows
 * @property {string} columns
 * @property {string} note
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {string[] | null} rowNames what the decoder reads and writes at each query
 * @property {BothNames | null} both the names of each row of the decoder, where both are known
 * @property {MapWords | null} [room] words of the largest map that takes this one's place
 * @property {boolean} tallBars the strip of bars is as high as that of a difference
 * @property {boolean} [paints] pressed squares are sent to the page
 * @property {number | null} [pinned] row of the address, -1 for none; null where it has no part
 * @property {boolean} [unused] the head is switched off: its weights are veiled
 * @property {Float32Array} weights `[query, key]`
 * @property {import("../core/color.ts").Palette} palette
 *
 * @typedef {MapTexts & import("../core/color.ts").Scaling} MapData
 */

/** What stands at the left and at the right of the rows.
 * @typedef {{titles: [string, string], reads: string[], writes: string[]}} BothNames */

/** The words around a map. @typedef {Pick<MapTexts, "both" | "queries" | "keys">} MapWords */

/** Get the weights of one row. @param {MapData} data @param {number} row */
export const rowOf = ({ weights, keys }, row) =>
  weights.subarray(row * keys.length, (row + 1) * keys.length);

/** Average all rows. @param {MapData} data */
export function averageRow({ weights, queries, keys }) {
  const sums = new Float32Array(keys.length);
  weights.forEach((weight, n) => (sums[n % sums.length] += weight));
  return sums.map((sum) => sum / queries.length);
}

/** The keys in the order in which the pointer came over them.
 * @typedef {{row: number, keys: number[]}} Stroke */

/** Extend a stroke to a column: nothing between there and the last one is left out.
 * @param {Stroke} stroke @param {number} key @returns {Stroke} */
export function extended({ row, keys }, key) {
  const last = keys[keys.length - 1];
  const step = Math.sign(key - last);
  const added = Array.from({ length: Math.abs(key - last) }, (_, n) => last + step * (n + 1));
  return { row, keys: [...new Set([...keys, ...added])] };
}

/** Write the message of a pin: its row, and the tokens of the map it belongs to.
 * @param {MapData} data @param {number} row */
export const pinOf = ({ queries, keys }, row) => ({ queries, keys, pinned: row });

/** Write the message of a stroke: its squares, and the map they belong to.
 * @param {MapData} data @param {Stroke} stroke */
export const paintedOf = ({ title, queries, keys }, stroke) =>
  ({ title, queries, keys, squares: stroke.keys.map((key) => [stroke.row, key]) });

// the strip over the keys: one row's weights as bars with numbers; differences go up and down
const BARS = { low: 48, tall: 76 };

// below `easy` a square is hard to hit, so a long map rather scrolls down than shrinks further
const SQUARE = { largest: 46, easy: 16, smallest: 14, widest: 2 }; // the last times its height
const LETTERS = { largest: 14, smallest: 10 };
const SLANT = Math.PI / 4;

export const LONGEST = 320; // of a column's word, CSS pixels: the squares stay in sight under it
export const AVERAGE = "average";

/** List the words at the left of the rows. @param {Pick<MapData, "both" | "queries">} data */
export const leftOf = ({ both, queries }) => both?.reads ?? queries;

/**
 * @typedef {object} MapPlan
 * @property {number} square height of a square
 * @property {number} wide width of a square
 * @property {number} font size of the letters
 * @property {number} angle of the words over the columns, radians
 * @property {number} left where the squares begin
 * @property {number} top
 * @property {number} head where the bars begin
 * @property {number} bars height of the strip of bars
 * @property {number} width
 * @property {number} height
 */

/**
 * @param {MapWords & Pick<MapData, "room" | "tallBars">} data
 * @param {number} width of the frame
 * @param {number} tallest height that is in sight; a long map may be taller
 * @param {import("../core/theme.ts").Measure} measure
 * @returns {MapPlan}
 */
export function planMap(data, width, tallest, measure) {
  const { both, queries, keys } = data.room ?? data;
  const bars = data.tallBars ? BARS.tall : BARS.low;
  // the bold of a word that is pointed at is the widest
  /** @param {string} text */
  const wide = (text) => measure(text, LETTERS.largest, 600);
  const rows = Math.max(wide(AVERAGE), ...leftOf({ both, queries }).map(wide));
  const right = both ? Math.max(...both.writes.map(wide)) : 0;
  const columns = keys.map(wide);
  /** @param {number} square @param {number} [across] */
  const planOf = (square, across = square) =>
    planSquares(rows, columns, right, queries.length, square, across, bars);
  for (let square = SQUARE.largest; square > SQUARE.smallest; square--) {
    let across = Math.min(SQUARE.widest * square, Math.floor(width / keys.length));
    while (across > square && planOf(square, across).width > width) across--;
    const plan = planOf(square, Math.max(square, across));
    if (plan.width <= width && (plan.height <= tallest || square <= SQUARE.easy)) return plan;
  }
  return planOf(SQUARE.smallest);
}

/**
 * @param {number} rows width of the longest row's word
 * @param {number[]} columns widths of the columns' words
 * @param {number} right width of the longest word at the right of a row; 0 for none
 * @param {number} count of rows
 * @param {number} square
 * @param {number} wide width of a square
 * @param {number} bars
 * @returns {MapPlan}
 */
function planSquares(rows, columns, right, count, square, wide, bars) {
  const font = Math.max(LETTERS.smallest, Math.min(LETTERS.largest, Math.floor(square * 0.62)));
  const scale = font / LETTERS.largest;
  const lengths = columns.map((length) => Math.min(length * scale, LONGEST));
  const longest = Math.max(...lengths);
  const angle = wide * Math.sin(SLANT) >= font ? SLANT : Math.PI / 2; // upright without room
  const left = Math.ceil(rows * scale + 2 * EDGE);
  // a slanted word leans out over the columns to its right; the last ones lean past the edge
  const lean = Math.max(0, ...lengths.map((length, key) =>
    length * Math.cos(angle) - (columns.length - key - 0.5) * wide));
  const head = Math.ceil(longest * Math.sin(angle) + font * Math.cos(angle)) + 6;
  const beside = right && Math.ceil(right * scale) + EDGE;
  return {
    square, wide, font, angle, left, bars, head, top: head + bars,
    width: left + columns.length * wide + Math.max(beside, Math.ceil(lean) + 4) + 2,
    height: head + bars + count * square + 2,
  };
}

/**
 * Find where the squares stand in the frame, when some of the map is scrolled away.
 * @param {MapPlan} plan
 * @param {Place} visible
 * @returns {{x: number, y: number, edge: number}} the first square, and left of which x only words
 *   stand: they stay while the squares scroll, unless they would leave the squares no room
 */
export function originOf(plan, visible) {
  const x = plan.left - visible.x;
  return { x, y: plan.top - visible.y, edge: staying(plan, visible.width) || x };
}

/** Measure the rows' words that stay in the frame while the squares scroll.
 * @param {MapPlan} plan @param {number} width of the frame */
export const staying = ({ left }, width) => (left <= width / 2 ? left : 0);

/** A square, or with no key a row's word.
 * @typedef {{row: number, key: number | null}} MapAt */

/** Find the column at a place of the frame, or the nearest in sight.
 * @param {{keys: string[]}} data @param {MapPlan} plan @param {number} x @param {Place} visible */
export function columnAt({ keys }, plan, x, visible) {
  const origin = originOf(plan, visible);
  const inSight = within(x, Math.max(origin.edge, 0), visible.width - 1);
  return within(Math.floor((inSight - origin.x) / plan.wide), 0, keys.length - 1);
}
