// Layout of the ribbons: a list of words at each side, ribbons between them.

import { EDGE, TALLEST } from "../core/picture_view.js";
import { within } from "../core/text.js";

const ROW = { largest: 28, smallest: 16 };
const LETTERS = { largest: 14, smallest: 11 };
const RIBBONS = { widest: 14, least: 96 }; // a weight of 1, and the room between the lists
const EXACT = "0.0000"; // the widest number beside a word

export const STEM = 6; // the mark beside a word that is picked

/**
 * @typedef {object} RibbonPlan
 * @property {number} row height of one
 * @property {number} font size of the letters
 * @property {number} left where the ribbons begin
 * @property {number} right where they end
 * @property {number} column width of a number
 * @property {number} numbers how many stand beside a word
 * @property {number} lane height of a head's part of a row
 * @property {number} width
 * @property {number} height
 */

/**
 * @param {{queries: string[], keys: string[]}} data
 * @param {number} count of heads that are on
 * @param {number} width of the frame
 * @param {import("../core/theme.js").Measure} measure
 * @returns {RibbonPlan}
 */
export function planRibbons({ queries, keys }, count, width, measure) {
  // the bold of a picked word is the widest
  /** @param {string} text */
  const wideOf = (text) => measure(text, LETTERS.largest, 600);
  const rows = Math.max(queries.length, keys.length);
  const row = within(Math.floor(TALLEST / rows), ROW.smallest, ROW.largest);
  const font = within(Math.floor(row * 0.68), LETTERS.smallest, LETTERS.largest);
  const scale = font / LETTERS.largest;
  /** @param {string[]} words */
  const room = (words) => Math.ceil(Math.max(...words.map(wideOf)) * scale) + EDGE + STEM;
  const left = room(queries);
  const wide = Math.max(width, left + RIBBONS.least + room(keys));
  const right = wide - room(keys);
  const column = Math.ceil(wideOf(EXACT) * scale) + EDGE;
  // numbers of all heads side by side where the ribbons keep some room, else the largest alone
  const all = right - left - count * column >= RIBBONS.least / 2;
  const lane = Math.min(RIBBONS.widest, (row * 0.8) / Math.max(1, count));
  return {
    row, font, left, right, column, lane, numbers: all ? count : 1,
    width: wide, height: rows * row,
  };
}

/**
 * Find the middle of a head's lane in a row.
 * @param {RibbonPlan} plan
 * @param {number} index of the row
 * @param {number} nth of the heads that are on
 * @param {number} count of these
 */
export const laneAt = ({ row, lane }, index, nth, count) =>
  (index + 0.5) * row + (nth - (count - 1) / 2) * lane;

/**
 * Find the word at a place of the whole picture.
 * @param {{queries: string[], keys: string[]}} data
 * @param {RibbonPlan} plan
 * @param {number} x
 * @param {number} y
 * @returns {import("./data.js").Token | null}
 */
export function hitRibbons(data, plan, x, y) {
  const index = Math.floor(y / plan.row);
  const side = x < plan.left ? "queries" : x > plan.right ? "keys" : null;
  return side && data[side][index] != null ? { side, index } : null;
}
