// Layout of the summary: a panel for each kind, a row for each head. The panels are
// side by side where there is room, and else one under the other.

import { within } from "../core/text.js";
import { orderOf } from "./data.js";

/** @import { Measure } from "../core/theme.js" */
/** @import { SummaryPart } from "./data.js" */

export const ROW = 18; // height of a head, CSS pixels
export const LETTERS = { title: 14, words: 12, axis: 10 };
export const HEAD = { title: 10, axis: 32, rows: 42 }; // from the panel's top
const CELL = { most: 17, least: 10, phone: 5 };
export const RANGE = 72; // width of the measure's scale
const GAP = { words: 10, panels: 36, below: 24 };
const SIDE = 6; // of the mark beside the open head

/**
 * @typedef {object} Panel
 * @property {SummaryPart} part
 * @property {number[]} rows the heads from top to bottom, by their numbers in the part
 * @property {number} x
 * @property {number} y
 * @property {number} strip where the profiles begin
 * @property {number} cell width of a column of theirs
 * @property {number} role where the roles begin
 * @property {number} range where the measure's scale begins
 * @property {number} width
 * @property {number} height
 */

/**
 * @typedef {object} SummaryPlan
 * @property {Panel[]} panels
 * @property {boolean} stacked whether they stand one under the other
 * @property {number} width
 * @property {number} height
 */

/** A head, and the column of its profile. @typedef {{panel: number, row: number,
 *   column: number | null}} SummaryAt */

/**
 * @param {SummaryPart[]} parts
 * @param {string | null} sortedBy a measure; null for by layer
 * @param {number} width of the frame
 * @param {Measure} measure
 * @returns {SummaryPlan}
 */
export function planSummary(parts, sortedBy, width, measure) {
  const sizes = parts.map((part) => sizeOf(part, measure));
  const columns = parts.reduce((sum, part) => sum + part.columns, 0);
  const words = sizes.reduce((sum, { name, role }) => sum + name + role + RANGE, 0);
  const fit = Math.floor((width - SIDE - words - (parts.length - 1) * GAP.panels) / columns);
  const stacked = fit < CELL.least;
  let [x, y] = [SIDE, 0];
  const panels = parts.map((part, n) => {
    const { name, role } = sizes[n];
    const own = Math.floor((width - SIDE - name - role - RANGE) / part.columns);
    const cell = within(stacked ? own : fit, CELL.phone, CELL.most);
    const strip = x + name;
    const after = strip + cell * part.columns;
    const panel = {
      part, rows: orderOf(part, sortedBy), x, y, strip, cell, role: after + GAP.words,
      range: after + role, width: after + role + RANGE - x,
      height: HEAD.rows + ROW * part.heads.length,
    };
    if (stacked) y += panel.height + GAP.below;
    else x += panel.width + GAP.panels;
    return panel;
  });
  return {
    panels, stacked,
    width: Math.max(...panels.map((panel) => panel.x + panel.width)),
    height: Math.max(...panels.map((panel) => panel.y + panel.height)),
  };
}

/** Measure the names of the heads and their roles.
 * @param {SummaryPart} part
 * @param {Measure} measure */
function sizeOf({ heads }, measure) {
  /** @param {string[]} texts */
  const widest = (texts) =>
    Math.ceil(Math.max(...texts.map((text) => measure(text, LETTERS.words, 600))));
  return {
    name: widest(heads.map(({ name }) => name)) + GAP.words,
    role: widest(heads.map(({ role }) => role)) + 2 * GAP.words,
  };
}

/** @param {Panel} panel @param {number} row */
export const topOf = ({ y }, row) => y + HEAD.rows + row * ROW;

/**
 * @param {SummaryPlan} plan
 * @param {number} x
 * @param {number} y
 * @returns {SummaryAt | null}
 */
export function hitSummary({ panels }, x, y) {
  const panel = panels.findIndex((place) =>
    x >= place.x && x < place.x + place.width && y >= place.y && y < place.y + place.height);
  if (panel < 0) return null;
  const { rows, strip, cell, part } = panels[panel];
  const row = Math.floor((y - topOf(panels[panel], 0)) / ROW);
  if (row < 0 || row >= rows.length) return null;
  const column = Math.floor((x - strip) / cell);
  return { panel, row, column: column >= 0 && column < part.columns ? column : null };
}

/**
 * Find where a key leads: up and down over all heads, left and right over the distances.
 * @param {SummaryPlan} plan
 * @param {SummaryAt | null} at
 * @param {string} key
 * @returns {SummaryAt | undefined}
 */
export function moved({ panels }, at, key) {
  if (!/^Arrow|^Home$|^End$/.test(key)) return undefined;
  if (!at) return { panel: 0, row: 0, column: null };
  const { panel, row, column } = at;
  const { rows, part } = panels[panel];
  const across = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (across) {
    const to = column == null ? (across > 0 ? 0 : -1) : column + across;
    return { panel, row, column: to < 0 ? null : Math.min(to, part.columns - 1) };
  }
  if (key === "Home") return { panel, row: 0, column };
  if (key === "End") return { panel, row: rows.length - 1, column };
  const to = row + (key === "ArrowUp" ? -1 : 1);
  if (to >= 0 && to < rows.length) return { panel, row: to, column };
  const next = panel + Math.sign(to - row);
  if (!panels[next]) return at;
  const last = panels[next].part.columns - 1;
  return {
    panel: next, row: to < 0 ? panels[next].rows.length - 1 : 0,
    column: column == null ? null : Math.min(column, last),
  };
}
