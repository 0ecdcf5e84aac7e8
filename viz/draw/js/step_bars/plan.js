// A column for each step, all of one width: so the bars have one scale.

import { shortened, within } from "../core/text.js";

/** @import { Measure } from "../core/theme.js" */
/** @import { BarAt, StepsData } from "./data.js" */

/**
 * @typedef {object} BarsPlan
 * @property {string[][]} texts of the pieces, cut where a column has no room
 * @property {number} column width, and so that of a bar of 1
 * @property {number} width
 * @property {number} height
 */

export const FONT = { written: 15, other: 14, number: 12 };
export const ROW = { first: 44, other: 34, text: 18, bar: 5, pad: 6 }; // heights
const COLUMN = { least: 78, most: 126, gap: 16 };
const NUMBER = 38; // room of a probability, and air before it

/**
 * @param {StepsData} data
 * @param {Measure} measure
 * @returns {BarsPlan}
 */
export function planBars({ steps }, measure) {
  /** @param {string} label @param {number} row */
  const wideOf = (label, row) =>
    Math.ceil(row ? measure(label, FONT.other, 400) : measure(label, FONT.written, 600));
  const widest = Math.max(...steps.flatMap((step) =>
    step.map(({ label }, row) => wideOf(label, row))));
  const column = within(widest + NUMBER + 2 * ROW.pad, COLUMN.least, COLUMN.most);
  const room = column - NUMBER - 2 * ROW.pad;
  const most = Math.max(...steps.map((step) => step.length));
  return {
    column,
    texts: steps.map((step) => step.map(({ label }, row) =>
      shortened(label, room, (part) => wideOf(part, row)))),
    width: steps.length * (column + COLUMN.gap) - COLUMN.gap,
    height: ROW.first + (most - 1) * ROW.other,
  };
}

/** @param {BarsPlan} plan @param {number} step */
export const leftOf = ({ column }, step) => step * (column + COLUMN.gap);

/** @param {number} row */
export const topOf = (row) => (row ? ROW.first + (row - 1) * ROW.other : 0);

/** @param {number} row */
export const heightOf = (row) => (row ? ROW.other : ROW.first - ROW.pad);

/**
 * @param {StepsData} data
 * @param {BarsPlan} plan
 * @param {number} x
 * @param {number} y
 * @returns {BarAt | null}
 */
export function hitBars({ steps }, plan, x, y) {
  const step = Math.floor(x / (plan.column + COLUMN.gap));
  if (!steps[step] || x < 0 || y < 0 || x - leftOf(plan, step) >= plan.column) return null;
  const row = y < ROW.first ? 0 : 1 + Math.floor((y - ROW.first) / ROW.other);
  return row < steps[step].length ? { step, row } : null;
}
