// Where everything of the head view goes: a list of words at each side, ribbons between them.

import { EDGE, TALLEST, within } from "./shared.js";

const ROW = { largest: 28, smallest: 16 };
const LETTERS = { largest: 14, smallest: 11 };
const RIBBONS = { widest: 14, least: 96 }; // a weight of 1, and the room between the lists
const EXACT = "0.0000"; // the widest number beside a word

export const STEM = 6; // the mark beside a word that is picked

/**
 * @param {object} data the queries' and the keys' labels
 * @param {number} count of heads that are on
 * @param {number} width of the frame
 * @param {(text: string) => number} measure width of a text at `LETTERS.largest` px
 */
export function planView({ queries, keys }, count, width, measure) {
  const rows = Math.max(queries.length, keys.length);
  const row = within(Math.floor(TALLEST / rows), ROW.smallest, ROW.largest);
  const font = within(Math.floor(row * 0.68), LETTERS.smallest, LETTERS.largest);
  const scale = font / LETTERS.largest;
  const room = (words) => Math.ceil(Math.max(...words.map(measure)) * scale) + EDGE + STEM;
  const left = room(queries); // where the ribbons begin
  const wide = Math.max(width, left + RIBBONS.least + room(keys));
  const right = wide - room(keys); // where they end
  const column = Math.ceil(measure(EXACT) * scale) + EDGE;
  // numbers of all heads side by side where the ribbons keep some room, else the largest alone
  const all = right - left - count * column >= RIBBONS.least / 2;
  const lane = Math.min(RIBBONS.widest, (row * 0.8) / Math.max(1, count));
  return {
    row, font, left, right, column, lane, numbers: all ? count : 1,
    width: wide, height: rows * row,
  };
}

/** The middle of a head's lane in a row. */
export const laneAt = ({ row, lane }, index, nth, count) =>
  (index + 0.5) * row + (nth - (count - 1) / 2) * lane;
