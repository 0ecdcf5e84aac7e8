// The sentences, each head over all of them, and the layout of the summary: a panel for each kind,
// a row for each head. The panels are side by side where there is room, and else one under the
// other.

import { within } from "../core/text.ts";

/** @import { Measure } from "../core/theme.ts" */
/** @import { Head } from "../head_grid/plan.ts" */

/**
 * A measure over the sentences: its mean, and where it differs between them, their standard
 * deviation, and the lowest and the highest with the number of the sentence that has it.
 * @typedef {[mean: number, deviation?: number, lowest?: [number, number],
 *   highest?: [number, number]]} OverSentences
 */

/**
 * @typedef {object} HeadRow one head over all sentences
 * @property {number} layer from 0, like head
 * @property {number} head
 * @property {string} name
 * @property {string} role "" where nothing dominates
 * @property {[role: string, count: number][]} roles in how many sentences it has which
 * @property {Record<string, OverSentences>} values by measure
 */

/**
 * @typedef {object} SummaryPart the heads of one kind
 * @property {"encoder_self" | "decoder_self" | "cross"} kind
 * @property {string} title
 * @property {string} color
 * @property {HeadRow[]} heads
 * @property {number} columns of the profile: the first is all that lies farther back
 * @property {Float64Array} profile `[head, column]`
 * @property {import("../core/color.ts").Palette} palette
 */

/**
 * @typedef {object} Sentence
 * @property {number} number of its line, from 1
 * @property {string} source
 * @property {string} target
 * @property {number | null} logP
 * @property {number} length pieces of both sides
 * @property {number} unlike how far heads of a kind differ from each other
 * @property {[name: string, code: string][]} sides source and target, with their languages' codes
 */

/**
 * @typedef {object} LinesData the message of `encode_lines` in viz/draw/lines.py
 * @property {Head} selected the head that each sentence opens with; -1 stands for a mean
 * @property {boolean} together whether a row is of all heads of a layer
 * @property {string} amount what is summed up, in a word: weight or share
 * @property {number} reach the farthest distance with a column of its own
 * @property {Record<string, string>} measures their explanations
 * @property {Sentence[]} sentences
 * @property {SummaryPart[]} parts
 */

/** List the heads of a part in the order in which they stand, by their numbers in it.
 * @param {SummaryPart} part
 * @param {string | null} measure by which they are sorted, largest first; null for by layer */
export function orderOf({ heads }, measure) {
  const numbers = heads.map((_, n) => n);
  if (measure == null) return numbers;
  /** @param {number} n */
  const value = (n) => heads[n].values[measure][0];
  return numbers.sort((a, b) => value(b) - value(a) || a - b);
}

/** List the heads of all kinds with the largest values of a measure, largest first.
 * @param {LinesData} data @param {string} measure @param {number} count */
export const foremost = ({ parts }, measure, count) =>
  parts.flatMap((part) =>
    part.heads.map((head) => ({ part, head, value: head.values[measure][0] })))
    .sort((a, b) => b.value - a.value).slice(0, count);

/** Name the distance in a column of a profile. @param {number} column @param {number} reach */
export function distanceOf(column, reach) {
  const distance = column - reach - 1;
  if (distance < -reach) return `more than ${reach} before`;
  if (distance > reach) return `more than ${reach} after`;
  if (distance === 0) return "at the same position";
  return `${Math.abs(distance)} ${distance < 0 ? "before" : "after"}`;
}

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
 * @param {SummaryPart} part @param {Measure} measure */
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
