// Where everything of the inside of a head goes: a row for each key, a column for each operation, and
// strips above and below them. A wide frame shows all columns at all times, so that nothing moves
// from step to step; a narrow one shows those that its step is about.

import { EDGE, within } from "./shared.js";

export const LETTERS = 13;
const ROW = { largest: 22, smallest: 12, all: 440 };
const CELL = { largest: 10, smallest: 2 };
const GAP = 16; // between two columns
const STRIP = 15;
const LINE = 22; // a strip and the room below it
const HEADING = 24;
const BARS = 40;

/** What stands in a column: `cells` values in a row, or `room` pixels for a number or a bar. */
const COLUMNS = [
  { name: "k", step: 2, cells: true, heading: "k" },
  { name: "products", step: 3, cells: true, heading: "q ∘ k" },
  { name: "dots", step: 3, room: 60, heading: "q · k" },
  { name: "scaled", step: 4, room: 72 },
  { name: "seen", step: 5, room: 44, heading: "mask" },
  { name: "weights", step: 6, room: 148, heading: "softmax α" },
  { name: "v", step: 2, cells: true, heading: "v" },
  { name: "weighted", step: 7, cells: true, heading: "α v" },
];

/** The strips below the columns, each as wide as the stream. */
const STREAM = [
  { name: "concat", step: 8, label: "all heads’ z" },
  { name: "norms", step: 8, label: "‖z Wᴼ‖", high: BARS },
  { name: "result", step: 8, label: "z Wᴼ" },
  { name: "others", step: 9, label: "other heads" },
  { name: "x", step: 9, label: "x" },
  { name: "added", step: 9, label: "sum" },
  { name: "normalised", step: 9, label: "LayerNorm" },
];

/** What a step shows where there is no room for all. */
const ABOUT = [
  null,
  ["first x"],
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
 * @param {object} data keys, factor and shapes
 * @param {number} step 0 for all
 * @param {number} width of the frame
 * @param {(text: string) => number} measure width of a text at `LETTERS` px
 * @returns {{width, height, row, left, parts}} each part with name, step, x, y, width, height
 */
export function planInside(data, step, width, measure) {
  const { keys, shapes, factor } = data;
  const labels = [...keys, ...STREAM.map((strip) => strip.label), "z = Σ α v"];
  const left = Math.ceil(Math.min(Math.max(...labels.map(measure)), width * 0.3)) + EDGE;
  const columns = COLUMNS.map((column) => ({
    ...column, heading: column.heading ?? factor, count: shapes[column.name][1] ?? 1,
  }));
  const least = left + columns.reduce(
    (sum, { cells, count, room }) => sum + GAP + (cells ? count * CELL.smallest : room), 0,
  );
  const whole = !step || width >= least;
  const about = whole ? null : ABOUT[step];
  const has = (name) => !about || about.includes(name);
  const shown = columns.filter((column) => has(column.name));
  const wide = Math.max(width, about ? 0 : least);
  const cell = cellWidth(shown, wide - left);

  const row = within(Math.floor(ROW.all / keys.length), ROW.smallest, ROW.largest);
  const parts = [];
  const put = (name, at, size, more) => parts.push({ name, ...at, ...size, ...more });
  const room = wide - left;
  let y = 2;
  if (has("first x")) {
    put("x", { x: left, y }, { width: room, height: STRIP }, { step: 1, label: "x" });
    y += LINE + 6;
  }
  let x = left;
  const placed = shown.map((column) => {
    const size = column.cells ? column.count * cell : column.room;
    const at = { ...column, x, width: size };
    x += size + GAP;
    return at;
  });
  if (has("q")) {
    const k = placed.find((column) => column.name === "k");
    put("q", { x: k.x, y }, { width: k.width, height: STRIP }, { step: 2, label: "q" });
    y += LINE - 4;
  }
  const top = y + HEADING;
  for (const column of placed) {
    put(column.name, { x: column.x, y: top }, { width: column.width, height: row * keys.length }, {
      step: column.step, heading: column.heading, rows: true,
    });
  }
  const rows = placed.length ? { top, bottom: top + row * keys.length } : null;
  if (rows) y = rows.bottom + 8;
  if (has("z")) {
    const { x: at, width: size } = placed.find((column) => column.name === "weighted");
    put("z", { x: at, y }, { width: size, height: STRIP }, { step: 7, label: "z = Σ α v" });
    y += LINE + 6;
  }
  for (const strip of STREAM.filter(({ name }) => has(name))) {
    const high = strip.high ?? STRIP;
    put(strip.name, { x: left, y }, { width: room, height: high }, strip);
    y += high + LINE - STRIP;
  }
  return { width: wide, height: y, row, left, rows, parts, least };
}

/** One width for the values of all columns, so that q stands over k, and z under α v. */
function cellWidth(columns, room) {
  const fixed = columns.reduce((sum, { room: own }) => sum + GAP + (own ?? 0), 0);
  const cells = columns.reduce((sum, { cells: has, count }) => sum + (has ? count : 0), 0);
  return within((room - fixed + GAP) / Math.max(1, cells), CELL.smallest, CELL.largest);
}
