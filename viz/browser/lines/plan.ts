// The sentences, each head over all of them, and the layout of the summary: a panel for each kind,
// a row for each head. The panels are side by side where there is room, and else one under the
// other.

import { within } from "../core/text.ts";
import type { Kind } from "../attention_map/plan.ts";
import type { Palette } from "../core/color.ts";
import type { Measure } from "../core/theme.ts";
import type { Head } from "../head_grid/plan.ts";

/** A measure over the sentences: its mean, and where it differs between them, their standard
 * deviation, and the lowest and the highest with the number of the sentence that has it. */
type OverSentences =
  [mean: number, deviation?: number, lowest?: [number, number], highest?: [number, number]];

export interface HeadRow { // one head over all sentences
  layer: number; // from 0, like head
  head: number;
  name: string;
  role: string; // "" where nothing dominates
  roles: [role: string, count: number][]; // in how many sentences it has which
  values: Record<string, OverSentences>; // by measure
}

export interface SummaryPart { // the heads of one kind
  kind: Kind;
  title: string;
  color: string;
  heads: HeadRow[];
  columns: number; // of the profile: the first is all that lies farther back
  profile: Float64Array; // `[head, column]`
  palette: Palette;
}

export interface Sentence {
  number: number; // of its line, from 1
  source: string;
  target: string;
  logP: number | null;
  length: number; // pieces of both sides
  unlike: number; // how far heads of a kind differ from each other
  sides: [name: string, code: string][]; // source and target, with their languages' codes
}

export interface LinesData { // the message of `encode_lines` in viz/lines.py
  selected: Head; // the head that each sentence opens with; -1 stands for a mean
  together: boolean; // whether a row is of all heads of a layer
  amount: string; // what is summed up, in a word: weight or share
  reach: number; // the farthest distance with a column of its own
  measures: Record<string, string>; // their explanations
  sentences: Sentence[];
  parts: SummaryPart[];
}

/** List the heads of a part in the order in which they stand, by their numbers in it.
 * @param measure by which they are sorted, largest first; null for by layer */
export function orderOf({ heads }: SummaryPart, measure: string | null) {
  const numbers = heads.map((_, n) => n);
  if (measure == null) return numbers;
  const value = (n: number) => heads[n].values[measure][0];
  return numbers.sort((a, b) => value(b) - value(a) || a - b);
}

export const foremost = ({ parts }: LinesData, measure: string, count: number) =>
  parts.flatMap((part) =>
    part.heads.map((head) => ({ part, head, value: head.values[measure][0] })))
    .sort((a, b) => b.value - a.value).slice(0, count);

export function distanceOf(column: number, reach: number) {
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

export type SummaryPlan = ReturnType<typeof planSummary>;
/** `strip`, `role` and `range` are where profiles, roles and the measure's scale begin. */
export type Panel = SummaryPlan["panels"][number];

/** A head, and the column of its profile. */
export interface SummaryAt { panel: number; row: number; column: number | null }

/** @param sortedBy a measure; null for by layer */
export function planSummary(
  parts: SummaryPart[], sortedBy: string | null, width: number, measure: Measure,
) {
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

function sizeOf({ heads }: SummaryPart, measure: Measure) {
  const widest = (texts: string[]) =>
    Math.ceil(Math.max(...texts.map((text) => measure(text, LETTERS.words, 600))));
  return {
    name: widest(heads.map(({ name }) => name)) + GAP.words,
    role: widest(heads.map(({ role }) => role)) + 2 * GAP.words,
  };
}

export const topOf = ({ y }: { y: number }, row: number) => y + HEAD.rows + row * ROW;
