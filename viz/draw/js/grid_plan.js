// Where every small map goes, and every word at it: one block for each kind, layers down and heads
// across, or one flow in a given order. Words are measured; what has no room is not cut but left
// to the tip.

import { headOf, many } from "./grid_data.js";

const GAP = 6; // between two maps of a block, CSS pixels
const FLOW_GAP = 12; // between two maps of a flow, which have their names over them
const BETWEEN = 20; // between two blocks
const TITLE = 28; // of a block
const NAME = 17; // H1 …
const SIDE_GAP = 8; // between L1 … and the maps
const CAPTION = 14; // a line under a map
const EDGE_ROOM = 4; // the outline of a map at the edge
const EASY = 46; // a map's side, below which blocks rather stand below each other
const SMALLEST = 4; // a page that is still being laid out may be of no width
const LARGEST = 84; // wider screens get paper instead of blurred squares
const LETTERS = { title: 14, name: 12, largest: 11, smallest: 10 };

/**
 * @param {object} data what `unpackGrid` gives
 * @param {number} width of the frame
 * @param {(text: string, size: number) => number} measure
 * @returns {object} `cells`, each a head with x, y, wide and high; `groups` of rows of these;
 *   `texts`, `dots`, `bars` and `frames` to be drawn; width and height
 */
export function planGrid(data, width, measure) {
  const drawn = { texts: [], dots: [], bars: [], frames: [] };
  const plan = { cells: [], groups: [], ...drawn, width: 0, height: 0 };
  if (data.order) layFlow(plan, data, width - 2 * EDGE_ROOM, measure);
  else layBlocks(plan, data, width - EDGE_ROOM, measure);
  for (const cell of plan.cells) if (cell.part.last != null) markStep(plan, cell);
  plan.width = Math.min(width, plan.width + EDGE_ROOM);
  plan.height += EDGE_ROOM;
  plan.texts = plan.texts.filter(({ text }) => text); // not every head has a badge
  return plan;
}

function layBlocks(plan, { parts }, width, measure) {
  const heads = Math.max(...parts.map((part) => part.heads));
  const layers = Math.max(...parts.map((part) => part.layers));
  const before = Math.ceil(measure(`L${layers}`, LETTERS.name)) + SIDE_GAP;
  let [beside, side] = [parts.length, 0];
  for (;; beside--) { // as many side by side as leave their maps easy to see
    const room = (width - (beside - 1) * BETWEEN) / beside - before;
    side = Math.min(LARGEST, Math.floor((room + GAP) / heads) - GAP);
    if (side >= EASY || beside === 1) break;
  }
  side = Math.max(SMALLEST, side);
  const across = before + heads * (side + GAP) - GAP + BETWEEN;
  const blocks = parts.map((part) => many(part.layers).map((layer) =>
    many(part.heads).map((head) => headOf(part, layer, head))));
  const badge = badgeLetters(blocks.flat(2), side + GAP - 2, measure);
  const valued = blocks.flat(2).some((one) => one.value);
  const under = (badge ? CAPTION : 0) + (valued ? CAPTION : 0);
  let y = 0;
  for (let first = 0; first < parts.length; first += beside) {
    const row = blocks.slice(first, first + beside);
    const ends = row.map((rows, n) =>
      layBlock(plan, rows, n * across, y, { before, side, under, badge }));
    y = Math.max(...ends) + BETWEEN;
  }
  plan.height = y - BETWEEN;
}

/** One kind; the answer is where it ends. */
function layBlock(plan, rows, x, top, { before, side, under, badge }) {
  const { part } = rows[0][0];
  const high = heightOf(part, side);
  plan.dots.push({ x: x + 5, y: top + 10, radius: 5, color: part.color });
  plan.texts.push({ text: part.name, x: x + 16, y: top + 15, size: LETTERS.title, bold: true });
  const left = x + before;
  for (const { head } of rows[0]) {
    const middle = left + head * (side + GAP) + side / 2;
    plan.texts.push(small(`H${head + 1}`, middle, top + TITLE + NAME - 6, "middle"));
  }
  let y = top + TITLE + NAME;
  const laid = rows.map((heads) => {
    plan.texts.push(small(`L${heads[0].layer + 1}`, left - SIDE_GAP, y + high / 2 + 4, "end"));
    const cells = heads.map((one) =>
      ({ ...one, x: left + one.head * (side + GAP), y, wide: side, high }));
    cells.forEach((cell) => captions(plan, cell, badge, cell.value));
    y += high + under + GAP;
    return cells;
  });
  plan.cells.push(...laid.flat());
  plan.groups.push({ name: part.name, rows: laid });
  plan.width = Math.max(plan.width, left + rows[0].length * (side + GAP) - GAP);
  return y - GAP;
}

function layFlow(plan, { parts, order }, width, measure) {
  const partOf = (kind) => parts.find((part) => part.kind === kind);
  const heads = order.map(([kind, layer, head]) => headOf(partOf(kind), layer, head));
  // a map is at least as wide as what stands over it
  const over = ({ name, value }) =>
    11 + measure(name, LETTERS.largest) + (value ? 6 + measure(value, LETTERS.largest) : 0);
  const least = Math.ceil(Math.max(EASY, ...heads.map(over)));
  const columns = Math.max(1, Math.floor((width + FLOW_GAP) / (least + FLOW_GAP)));
  const side = Math.min(LARGEST, Math.floor((width + FLOW_GAP) / columns) - FLOW_GAP);
  const badge = badgeLetters(heads, side + FLOW_GAP - 2, measure);
  let y = 0;
  const rows = chunks(heads, columns).map((row) => {
    const top = y + NAME;
    const cells = row.map((one, column) => {
      const x = EDGE_ROOM + column * (side + FLOW_GAP);
      const cell = { ...one, x, y: top, wide: side, high: heightOf(one.part, side) };
      plan.dots.push({ x: x + 4, y: top - 10, radius: 3.5, color: one.part.color });
      plan.texts.push({ ...small(one.name, x + 11, top - 6, "start"), size: LETTERS.largest });
      plan.texts.push({ ...small(one.value, x + side, top - 6, "end"), size: LETTERS.largest });
      captions(plan, cell, badge, "");
      plan.width = Math.max(plan.width, x + side);
      return cell;
    });
    plan.cells.push(...cells);
    y = top + Math.max(...cells.map(({ high }) => high)) + (badge ? CAPTION : 0) + FLOW_GAP;
    return cells;
  });
  plan.groups.push({ name: "in order", rows });
  plan.height = Math.max(0, y - FLOW_GAP);
}

/** As tall as its words ask for, so that a square is a square; within reason. */
const heightOf = ({ queries, keys }, side) =>
  Math.round(side * Math.min(1.5, Math.max(0.6, queries.length / keys.length)));

function captions(plan, { x, y, wide, high, badge }, letters, value) {
  const lines = letters ? [[badge, letters], [value, LETTERS.largest]]
    : [[value, LETTERS.largest]];
  lines.forEach(([text, size], line) => {
    const base = y + high + 13 + line * CAPTION;
    plan.texts.push({ ...small(text, x + wide / 2, base, "middle"), size });
  });
}

/** The size at which every badge has room, 0 if there is none, or none to show. */
function badgeLetters(heads, room, measure) {
  const badges = [...new Set(heads.map(({ badge }) => badge))].filter(Boolean);
  if (!badges.length) return 0;
  const fits = (size) => badges.every((badge) => measure(badge, size) <= room);
  return [LETTERS.largest, LETTERS.smallest].find(fits) ?? 0;
}

/** A thin line at both sides of the step's row, and a frame that says how much is still to come. */
function markStep({ bars, frames }, { x, y, wide, high, part }) {
  frames.push({ x: x - 0.5, y: y - 0.5, wide: wide + 1, high: high + 1 });
  const middle = Math.round(y + ((part.last + 0.5) / part.rows) * high - 0.5);
  for (const at of [x - 3, x + wide]) bars.push({ x: at, y: middle, wide: 3, high: 1 });
}

const small = (text, x, y, align) => ({ text, x, y, align, size: LETTERS.name, quiet: true });

const chunks = (list, length) =>
  many(Math.ceil(list.length / length)).map((n) => list.slice(n * length, (n + 1) * length));
