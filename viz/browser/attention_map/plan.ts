// One head with its exact weights, and the layout of its large map. Nothing is cut: words are
// measured and get their room; a very long one over a column is squeezed. Squares are wider than
// high where there is room. A map with many words gets smaller squares and smaller letters, and
// below 10 px it scrolls instead.

import { EDGE } from "../core/picture_view.ts";
import { within } from "../core/text.ts";
import type { Worded } from "../core/labels.ts";
import type { Palette, Scaling } from "../core/color.ts";
import type { Place } from "../core/scene.ts";
import type { Measure } from "../core/theme.ts";

/** How a map is drawn, as `Look` of viz/draw/attention_map.py. */
export interface Look extends Scaling {
  tall?: boolean; // the strip of bars is as high as that of a difference
  paints?: boolean; // pressed squares are sent to the page
  paintsDown?: boolean; // those down a column, too
  unused?: boolean; // the head is switched off: its weights are veiled
}

export const PLAIN: Look = {
  scale: "linear", threshold: 0, signed: false, amount: "weight", tall: false, paints: false,
  unused: false,
};

export interface MapData extends Worded, Look { // of `encode_map` there
  title: string;
  note: string;
  painted?: number[]; // rows
  pinned?: number | null; // row of the address, -1 for none; null where it has no part
  weights: Float32Array; // `[query, key]`
  palette: Palette;
}

type MapWords = Pick<MapData, "both" | "queries" | "keys">;

export const rowOf = ({ weights, keys }: MapData, row: number) =>
  weights.subarray(row * keys.length, (row + 1) * keys.length);

export function averageRow({ weights, queries, keys }: MapData) {
  const sums = new Float32Array(keys.length);
  weights.forEach((weight, n) => (sums[n % sums.length] += weight));
  return sums.map((sum) => sum / queries.length);
}

export interface Stroke { row: number; keys: number[]; rows?: number[] } // down its first key

/** Extend a stroke to a column: nothing between there and the last one is left out. */
export function extended({ row, keys }: Stroke, key: number): Stroke {
  const last = keys[keys.length - 1];
  const step = Math.sign(key - last);
  const added = Array.from({ length: Math.abs(key - last) }, (_, n) => last + step * (n + 1));
  return { row, keys: [...new Set([...keys, ...added])] };
}

/** Turn a stroke down its column where a hand goes further down than along its row. */
export function turned(stroke: Stroke, row: number, key: number): Stroke {
  const { row: first, keys: [start, ...others] } = stroke;
  if (Math.abs(row - first) <= Math.abs(key - start)) return { row: first, keys: stroke.keys };
  const count = Math.abs(row - first) + 1;
  const rows = Array.from({ length: count }, (_, n) => Math.min(first, row) + n);
  return { row: first, keys: [start, ...others], rows };
}

/** List the squares of a stroke. */
export const squaresOf = ({ row, keys, rows }: Stroke) =>
  (rows ? rows.map((other) => [other, keys[0]]) : keys.map((key) => [row, key]));

export const pinOf = ({ queries, keys }: MapData, row: number) => ({ queries, keys, pinned: row });

export const paintedOf = ({ title, queries, keys }: MapData, stroke: Stroke) =>
  ({ title, queries, keys, squares: squaresOf(stroke) });

// the strip over the keys: one row's weights as bars with numbers; differences go up and down
const BARS = { low: 48, tall: 76 };

// below `easy` a square is hard to hit, so a long map rather scrolls down than shrinks further
const SQUARE = { largest: 46, easy: 16, smallest: 14, widest: 2 }; // the last times its height
const LETTERS = { largest: 14, smallest: 10 };
const SLANT = Math.PI / 4;

export const LONGEST = 320; // of a column's word, CSS pixels: the squares stay in sight under it
export const AVERAGE = "average";

export const leftOf = ({ both, queries }: Pick<MapData, "both" | "queries">) =>
  both?.reads ?? queries;

export type MapPlan = ReturnType<typeof planSquares>;

/** @param tallest height that is in sight; a long map may be taller */
export function planMap(
  data: MapWords & Pick<MapData, "tall" | "signed">, width: number, tallest: number,
  measure: Measure,
) {
  const { both, queries, keys } = data;
  const bars = data.tall || data.signed ? BARS.tall : BARS.low;
  // the bold of a word that is pointed at is the widest
  const wide = (text: string) => measure(text, LETTERS.largest, 600);
  const rows = Math.max(wide(AVERAGE), ...leftOf({ both, queries }).map(wide));
  const right = both ? Math.max(...both.writes.map(wide)) : 0;
  const columns = keys.map(wide);
  const planOf = (square: number, across = square) =>
    planSquares(rows, columns, right, queries.length, square, across, bars);
  for (let square = SQUARE.largest; square > SQUARE.smallest; square--) {
    let across = Math.min(SQUARE.widest * square, Math.floor(width / keys.length));
    while (across > square && planOf(square, across).width > width) across--;
    const plan = planOf(square, Math.max(square, across));
    if (plan.width <= width && (plan.height <= tallest || square <= SQUARE.easy)) return plan;
  }
  return planOf(SQUARE.smallest);
}

/** @param square height of a square
 * @param wide width of a square
 * @param right width of the longest word at the right of a row; 0 for none */
function planSquares(
  rows: number, columns: number[], right: number, count: number, square: number, wide: number,
  bars: number,
) {
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

/** Find where the squares stand in the frame, when some of the map is scrolled away.
 * @returns the first square, and left of which x only words stand: they stay while the squares
 *   scroll, unless they would leave the squares no room */
export function originOf(plan: MapPlan, visible: Place) {
  const x = plan.left - visible.x;
  return { x, y: plan.top - visible.y, edge: staying(plan, visible.width) || x };
}

export const staying = ({ left }: MapPlan, width: number) => (left <= width / 2 ? left : 0);

export function rowAt(
  { queries }: { queries: string[] }, plan: MapPlan, y: number, visible: Place,
) {
  const inSight = within(y, plan.top, visible.height - 1);
  return within(Math.floor((inSight - originOf(plan, visible).y) / plan.square), 0,
    queries.length - 1);
}

export function columnAt({ keys }: { keys: string[] }, plan: MapPlan, x: number, visible: Place) {
  const origin = originOf(plan, visible);
  const inSight = within(x, Math.max(origin.edge, 0), visible.width - 1);
  return within(Math.floor((inSight - origin.x) / plan.wide), 0, keys.length - 1);
}
