// Every number of one query word in one head, and the layout of the inside of a head: a row for
// each key, a column for each operation, and strips above and below them. A wide frame shows all
// columns at all times, so that nothing moves from step to step; a narrow one those that its step
// is about. All of it gets lower where it would not be in sight.

import { EDGE } from "../core/picture_view.ts";
import { within } from "../core/text.ts";

/** @import { Measure } from "../core/theme.ts" */

/** @typedef {[name: string, inside: string | MathNode[]]} MathNode with its text or its children */

/**
 * @typedef {object} WalkStep one step of the arithmetic, as the page explains it
 * @property {string} name short, for its button
 * @property {MathNode} equation
 * @property {string} shape with this model's and this sentence's numbers
 * @property {string} says one sentence
 * @property {string} code the line that does it, with its file
 */

/**
 * The fields of `Arithmetic` in transformer/analysis/paper/arithmetic.py, which says what they
 * hold.
 * @typedef {"x" | "q" | "k" | "v" | "products" | "dots" | "scaled" | "seen" | "weights"
 *   | "weighted" | "z" | "concat" | "norms" | "result" | "others" | "added"
 *   | "normalised"} ArrayName
 */

/**
 * @typedef {object} InsideData the message of `encode_inside` in viz/draw/inside_head.py
 * @property {string} title
 * @property {string} query the row that looks, in words
 * @property {string[]} keys
 * @property {string} kind of attention
 * @property {string} color of that kind
 * @property {number} head from 0
 * @property {string} factor by which q · k is scaled, in words
 * @property {number} step to begin with; 0 shows all
 * @property {WalkStep[]} steps
 * @property {Record<ArrayName, Float32Array>} arrays
 * @property {Record<ArrayName, number[]>} shapes
 * @property {Partial<Record<ArrayName, number>>} ends of those drawn in colours: the size from
 *   which on the colour stays
 * @property {import("../core/color.ts").Palette} palette
 */

export const LETTERS = 13;
/** Heights of all rows, a strip, the gap below it, the headings and the bars. */
const ROOMY = { rows: 440, strip: 15, below: 7, heading: 24, bars: 40 };
const TIGHT = { rows: 168, strip: 10, below: 3, heading: 18, bars: 26 };
const ROW = { largest: 22, smallest: 12 };
const CELL = { largest: 10, smallest: 2 };
const GAP = 16; // between two columns
const WIDEST_WORDS = 0.3; // of the frame

/**
 * @typedef {object} Column
 * @property {ArrayName} name
 * @property {number} step that makes it
 * @property {number} [room] pixels for a number or a bar; without it, all values stand in a row
 * @property {string} [heading] the factor of q · k by default
 */

/** @type {Column[]} */
const COLUMNS = [
  { name: "k", step: 2, heading: "k" },
  { name: "products", step: 3, heading: "q ∘ k" },
  { name: "dots", step: 3, room: 60, heading: "q · k" },
  { name: "scaled", step: 4, room: 72 },
  { name: "seen", step: 5, room: 44, heading: "mask" },
  { name: "weights", step: 6, room: 148, heading: "softmax α" },
  { name: "v", step: 2, heading: "v" },
  { name: "weighted", step: 7, heading: "α v" },
];

/**
 * @typedef {object} Strip an array in one row
 * @property {ArrayName} name
 * @property {number} step
 * @property {string} label
 * @property {boolean} [isBars]
 */

/** Below the columns, each as wide as the stream. @type {Strip[]} */
const STREAM = [
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

/** The parts that a step shows where there is no room for all. @type {string[][]} */
const ABOUT = [
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

/**
 * @typedef {object} Values of an array in its place; no two have both name and step in common
 * @property {ArrayName} name
 * @property {number} step that makes it
 * @property {boolean} perKey whether it has a row for each key; a strip is one row
 * @property {number} rows
 * @property {number} columns values in a row
 * @property {string} [heading] over it
 * @property {string} [label] beside it
 *
 * @typedef {Values & import("../core/scene.ts").Place} Part
 */

/**
 * @typedef {object} InsidePlan
 * @property {number} width
 * @property {number} height
 * @property {number} least the width that all columns need
 * @property {number} left where the values begin, right of the words
 * @property {number | null} top where the rows of the keys begin; null where none is shown
 * @property {number} row height of one
 * @property {Part[]} parts
 */

/**
 * @typedef {object} InsideAt a value that is pointed at
 * @property {ArrayName} name of its part
 * @property {number} step
 * @property {number} row
 * @property {number} column
 */

/** @typedef {Pick<InsideData, "keys" | "factor" | "shapes">} Shown */

/**
 * @param {Shown} data
 * @param {number} step 0 for all
 * @param {number} width of the frame
 * @param {Measure} measure
 * @param {number} [tallest] height that is in sight; with many keys the picture is taller
 * @returns {InsidePlan}
 */
export function planInside(data, step, width, measure, tallest = Infinity, sizes = ROOMY) {
  const left = leftOf(data.keys, width, measure);
  const least = left + COLUMNS.reduce((sum, column) =>
    sum + GAP + (column.room ?? valuesIn(data, column) * CELL.smallest), 0);
  const about = width < least ? ABOUT[step] : null;
  /** @param {string} name */
  const has = (name) => !about || about.includes(name);
  const row = within(Math.floor(sizes.rows / data.keys.length), ROW.smallest, ROW.largest);
  const columns = placed(data, COLUMNS.filter(({ name }) => has(name)), left, width - left);

  /** @type {Part[]} */
  const parts = [];
  let y = 2;
  /** @param {Strip} strip @param {Stretch} place @param {number} [below] */
  const add = ({ name, step: made, label, isBars }, { x, width: long }, below = sizes.below) => {
    const height = isBars ? sizes.bars : sizes.strip;
    const count = data.shapes[name].reduce((product, side) => product * side, 1);
    parts.push({
      name, step: made, label, x, y, width: long, height, perKey: false, rows: 1, columns: count,
    });
    y += height + below;
  };
  const stream = { x: left, width: width - left };
  /** @param {ArrayName} name */
  const beside = (name) => columns.find((column) => column.name === name) ?? stream;

  if (has(FIRST)) add({ name: "x", step: 1, label: "x" }, stream, sizes.below + 6);
  if (has("q")) add({ name: "q", step: 2, label: "q" }, beside("k"), sizes.below - 4);
  const top = columns.length ? y + sizes.heading : null;
  if (top != null) {
    const height = row * data.keys.length;
    parts.push(...columns.map((column) => ({ ...column, y: top, height })));
    y = top + height + 8;
  }
  if (has("z")) add({ name: "z", step: 7, label: SUM }, beside("weighted"), sizes.below + 6);
  for (const strip of STREAM) if (has(strip.name)) add(strip, stream);
  if (y > tallest) return planInside(data, step, width, measure, Infinity, TIGHT);
  return { width, height: y, least, left, top, row, parts };
}

/** @typedef {{x: number, width: number}} Stretch */

/** Measure the words left of the values: those wider than their share are squeezed.
 * @param {string[]} keys @param {number} width @param {Measure} measure */
function leftOf(keys, width, measure) {
  const words = [...keys, ...STREAM.map(({ label }) => label), SUM];
  const widest = Math.max(...words.map((word) => measure(word, LETTERS, 600)));
  return Math.ceil(Math.min(widest, width * WIDEST_WORDS)) + EDGE;
}

/** Count the values for each key. @param {Shown} data @param {Column} column */
const valuesIn = ({ shapes }, { name }) => shapes[name][1] ?? 1;

/**
 * Place columns side by side with values of one width, so that q stands over k, z under α v.
 * @param {Shown} data
 * @param {Column[]} columns
 * @param {number} left
 * @param {number} width of all
 */
function placed(data, columns, left, width) {
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

/** Test whether a step shows the content of a part. @param {Part} part @param {number} step */
export const isMade = (part, step) => !step || part.step <= step;

/** Find the part with the value under the pointer, if this step and frame show it.
 * @param {InsidePlan} plan @param {number} step @param {InsideAt} at */
export const partAt = (plan, step, at) => plan.parts.find((part) =>
  part.name === at.name && part.step === at.step && isMade(part, step));
