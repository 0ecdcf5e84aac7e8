// Every number of one query word in one head, and the layout of the inside of a head: a row for
// each key, a column for each operation, and strips above and below them. A wide frame shows all
// columns at all times, so that nothing moves from step to step; a narrow one those that its step
// is about. All of it gets lower where it would not be in sight.

import { EDGE } from "../core/picture_view.ts";
import { within } from "../core/text.ts";
import type { Palette } from "../core/color.ts";
import type { Place } from "../core/scene.ts";
import type { Measure } from "../core/theme.ts";

export type MathNode = [name: string, inside: string | MathNode[]]; // with its text or its children

interface WalkStep { // one step of the arithmetic, as the page explains it
  name: string; // short, for its button
  equation: MathNode;
  shape: string; // with this model's and this sentence's numbers
  says: string; // one sentence
  code: string; // the line that does it
}

/** The fields of `Arithmetic` in transformer/paper/arithmetic.py, which explains them. */
export type ArrayName =
  | "x" | "q" | "k" | "v" | "products" | "dots" | "scaled" | "seen" | "weights" | "weighted" | "z"
  | "concat" | "norms" | "result" | "others" | "added" | "normalised";

export interface InsideData { // the message of `encode_inside` in viz/draw/inside_head.py
  title: string;
  query: string; // the row that looks, in words
  keys: string[];
  kind: string; // of attention
  color: string; // of that kind
  head: number; // from 0
  factor: string; // by which q · k is scaled, in words
  step: number; // to begin with; 0 shows all
  plays: boolean; // by itself, from there on
  steps: WalkStep[];
  arrays: Record<ArrayName, Float32Array>;
  shapes: Record<ArrayName, number[]>;
  // of those drawn in colours: the size from which on the colour stays
  ends: Partial<Record<ArrayName, number>>;
  palette: Palette;
}

export const LETTERS = 13;
/** Heights of all rows, a strip, the gap below it, the headings and the bars. */
const ROOMY = { rows: 440, strip: 15, below: 7, heading: 24, bars: 40 };
const TIGHT = { rows: 168, strip: 10, below: 3, heading: 18, bars: 20 };
const ROW = { largest: 22, smallest: 12 };
const CELL = { largest: 10, smallest: 2 };
const GAP = 16; // between two columns
const WIDEST_WORDS = 0.3; // of the frame

interface Column {
  name: ArrayName;
  step: number; // that makes it
  room?: number; // pixels for a number or a bar; without it, all values stand in a row
  heading?: string; // the factor of q · k by default
}

const COLUMNS: Column[] = [
  { name: "k", step: 2, heading: "k" },
  { name: "products", step: 3, heading: "q ∘ k" },
  { name: "dots", step: 3, room: 60, heading: "q · k" },
  { name: "scaled", step: 4, room: 72 },
  { name: "seen", step: 5, room: 44, heading: "mask" },
  { name: "weights", step: 6, room: 148, heading: "softmax α" },
  { name: "v", step: 2, heading: "v" },
  { name: "weighted", step: 7, heading: "α v" },
];

interface Strip { // an array in one row
  name: ArrayName;
  step: number;
  label: string;
  isBars?: boolean;
}

const STREAM: Strip[] = [
  { name: "concat", step: 8, label: "all heads’ z" },
  { name: "norms", step: 8, label: "‖z Wᴼ‖", isBars: true },
  { name: "result", step: 8, label: "z Wᴼ" },
  { name: "others", step: 9, label: "other heads" },
  { name: "x", step: 9, label: "x" },
  { name: "added", step: 9, label: "sum" },
  { name: "normalised", step: 9, label: "LayerNorm" },
];

const SUM = "z = Σ α v";
const FIRST = "first x"; // the strip over all others, where the words about a step name it

/** The parts that a step shows where there is no room for all. */
const ABOUT: string[][] = [
  [FIRST, "dots", "weights", "z", "result", "normalised"],
  [FIRST],
  ["q", "k", "v"],
  ["q", "k", "products", "dots"],
  ["dots", "scaled"],
  ["scaled", "seen"],
  ["seen", "weights"],
  ["weights", "weighted", "z"],
  ["concat", "norms", "result"],
  ["result", "others", "x", "added", "normalised"],
];

export interface Part extends Place { // an array; no two have both name and step in common
  name: ArrayName;
  step: number; // that makes it
  perKey: boolean; // whether it has a row for each key; a strip is one row
  rows: number;
  columns: number; // values in a row
  heading?: string; // over it
  label?: string; // beside it
}

export type InsidePlan = ReturnType<typeof planInside>;
export type InsideAt = Pick<Part, "name" | "step"> & { row: number; column: number };

type Shown = Pick<InsideData, "keys" | "factor" | "shapes">;

/** @param tallest height that is in sight; with many keys the picture is taller */
export function planInside(
  data: Shown, step: number, width: number, measure: Measure, tallest = Infinity,
) {
  const roomy = planWith(ROOMY, data, step, width, measure);
  return roomy.height > tallest ? planWith(TIGHT, data, step, width, measure) : roomy;
}

function planWith(
  sizes: typeof ROOMY, data: Shown, step: number, width: number, measure: Measure,
) {
  const left = leftOf(data.keys, width, measure);
  const least = left + COLUMNS.reduce((sum, column) =>
    sum + GAP + (column.room ?? valuesIn(data, column) * CELL.smallest), 0);
  const about = width < least ? ABOUT[step] : null;
  const has = (name: string) => !about || about.includes(name);
  const row = within(Math.floor(sizes.rows / data.keys.length), ROW.smallest, ROW.largest);
  const columns = placed(data, COLUMNS.filter(({ name }) => has(name)), left, width - left);

  const parts: Part[] = [];
  let y = 2;
  const add = (
    { name, step: made, label, isBars }: Strip, { x, width: long }: Pick<Place, "x" | "width">,
    below = sizes.below,
  ) => {
    const height = isBars ? sizes.bars : sizes.strip;
    const count = data.shapes[name].reduce((product, side) => product * side, 1);
    parts.push({
      name, step: made, label, x, y, width: long, height, perKey: false, rows: 1, columns: count,
    });
    y += height + below;
  };
  const stream = { x: left, width: width - left };
  const beside = (name: ArrayName) => columns.find((column) => column.name === name) ?? stream;

  if (has(FIRST)) add({ name: "x", step: 1, label: "x" }, stream, sizes.below + 6);
  if (has("q")) add({ name: "q", step: 2, label: "q" }, beside("k"), sizes.below + 2);
  const top = columns.length ? y + sizes.heading : null; // of the keys' rows, if any is shown
  if (top != null) {
    const height = row * data.keys.length;
    parts.push(...columns.map((column) => ({ ...column, y: top, height })));
    y = top + height + 8;
  }
  if (has("z")) add({ name: "z", step: 7, label: SUM }, beside("weighted"), sizes.below + 6);
  for (const strip of STREAM) if (has(strip.name)) add(strip, stream);
  return { width, height: y, least, left, top, row, parts };
}

/** Measure the words left of the values: those wider than their share are squeezed. */
function leftOf(keys: string[], width: number, measure: Measure) {
  const words = [...keys, ...STREAM.map(({ label }) => label), SUM];
  const widest = Math.max(...words.map((word) => measure(word, LETTERS, 600)));
  return Math.ceil(Math.min(widest, width * WIDEST_WORDS)) + EDGE;
}

const valuesIn = ({ shapes }: Shown, { name }: Column) => shapes[name][1] ?? 1;

/** Place columns side by side with values of one width, so that q stands over k, z under α v. */
function placed(data: Shown, columns: Column[], left: number, width: number) {
  const fixed = columns.reduce((sum, { room }) => sum + GAP + (room ?? 0), 0);
  const values = columns.reduce((sum, column) =>
    sum + (column.room ? 0 : valuesIn(data, column)), 0);
  const cell = within((width - fixed + GAP) / Math.max(1, values), CELL.smallest, CELL.largest);
  let x = left;
  return columns.map((column) => {
    const count = valuesIn(data, column);
    const own = { x, width: column.room ?? count * cell };
    x += own.width + GAP;
    return {
      name: column.name, step: column.step, heading: column.heading ?? data.factor, ...own,
      perKey: true, rows: data.keys.length, columns: count,
    };
  });
}

export const isMade = (part: Part, step: number) => !step || part.step <= step;

export const partAt = (plan: InsidePlan, step: number, at: InsideAt) => plan.parts.find((part) =>
  part.name === at.name && part.step === at.step && isMade(part, step));
