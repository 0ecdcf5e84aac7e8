// Every head at a glance: its message, its words, and the layout of the small maps, one block for
// each kind, layers down and heads across, or one flow in a given order. Words are measured; what
// has no room is not cut but left to the tip.

import { displayTokens, SCREEN_NAMES } from "../core/labels.ts";
import { COLOR, paletteOf } from "../core/palette.ts";
import { fixed, quote, within } from "../core/text.ts";
import type { Kind } from "../core/trace.ts";
import type { Palette } from "../core/color.ts";
import type { Place, Text } from "../core/scene.ts";
import type { Measure } from "../core/theme.ts";

export type Head = [kind: string, layer: number, head: number]; // with the last two from 0

export interface Part { // every head of one kind
  kind: string;
  name: string; // on the screen
  causal: boolean; // whether a query sees no later key
  color: string;
  layers: number;
  heads: number; // the most that a layer has
  counts: number[]; // heads of each layer
  together?: boolean; // a map is of all heads of a layer, so there is one for each
  amount?: string; // what a square of a map holds, where it is not a weight
  queries: string[];
  keys: string[];
  block: [rows: number, columns: number]; // tokens that share a cell
  rows: number; // cells down
  columns: number; // cells across
  roles: string[][]; // `[layer][head]`
  values: string[][]; // `[layer][head]`
  strongest: [query: number, key: number, weight: number][][]; // `[layer][head]`
  palette: Palette;
  weights: Uint8Array; // `[layer, head, row, column]`, 255 for 1
}

export interface GridData { // the message of `encode_grid` in viz/draw/head_grid.py
  key: string; // under which Python says which head is selected
  selected: Head | null; // -1 stands for a mean
  order: Head[] | null;
  crossed?: Head[]; // switched off
  switches?: boolean; // a click switches a head off and on, and does not open it
  answered?: number; // number of the last click that `crossed` follows
  nameEnd: string; // of a saved picture, such as the lens
  parts: Part[];
}

/** Words and colours of a part are made here, of what Python or a trace says of it. */
export type PartMessage = Omit<Part, "name" | "color" | "palette" | "values">
  & { kind: Kind; values: Float32Array | null }; // `[layer, head]`, of no number none

export const wordedPart = ({ kind, queries, keys, values, ...part }: PartMessage): Part => ({
  ...part, kind, name: SCREEN_NAMES[kind], color: COLOR[kind], palette: paletteOf(kind),
  queries: displayTokens(queries), keys: displayTokens(keys),
  values: range(part.layers).map((layer) => range(part.heads).map((head) => {
    const value = values ? values[layer * part.heads + head] : NaN;
    return Number.isFinite(value) ? fixed(value, Math.abs(value) < 10 ? 2 : 1) : "";
  })),
});

type Cell = ReturnType<typeof cellOf>;

export function cellOf(part: Part, layer: number, head: number) {
  return {
    part, layer, head,
    id: ident([part.kind, layer, head]),
    name: part.together ? `L${layer + 1}` : `L${layer + 1} H${head + 1}`,
    role: part.roles[layer][head],
    value: part.values[layer][head],
  };
}

export const ident = (head: Head | null) => (head ?? []).join(" ");

export const range = (count: number) => Array.from({ length: count }, (_, n) => n);

export function weightsOf({ part, layer, head }: Cell) {
  const count = part.rows * part.columns;
  const number = layer * part.heads + head;
  return part.weights.subarray(number * count, (number + 1) * count);
}

export const titleOf = ({ name, part, role }: Cell) =>
  [name, part.name, role].filter(Boolean).join(" · ");

export const labelOf = ({ part, layer, head }: Cell) =>
  `${part.name}, layer ${layer + 1}, ${part.together ? "all heads" : `head ${head + 1}`}`;

export function gridLabel(parts: Part[], maps: number, groups: string[]) {
  const count = parts.every(({ together }) => together)
    ? `${maps} maps, one for each layer` : `${maps} attention heads`;
  return `${count}: ${groups.join(", ")}`;
}

/** Name the heads that were switched off, or on again; "" where none was.
 * @param before their `ident`s */
export function switched(
  before: ReadonlySet<string>, now: ReadonlySet<string>, nameOf: (id: string) => string,
) {
  const say = (ids: string[], how: string) => (ids.length === 1 ? [`${nameOf(ids[0])} is ${how}`]
    : ids.length ? [`${ids.length} heads are ${how}`] : []);
  return [
    ...say([...now].filter((id) => !before.has(id)), "switched off"),
    ...say([...before].filter((id) => !now.has(id)), "on again"),
  ].join("; ");
}

export function describe({ part, layer, head, role, value }: Cell) {
  const [query, key, weight] = part.strongest[layer][head];
  const words = `${quote(part.queries[query])} to ${quote(part.keys[key])}`;
  const { amount = "weight" } = part;
  const how = amount === "weight" ? "looks most" : `largest ${amount}`;
  const most = `${how} from ${words}, ${weight.toFixed(2)}`;
  return [role, value, most].filter(Boolean).join("; ");
}

export function notesOn({ parts }: GridData, folded: boolean) {
  const [{ amount = "weight" }] = parts;
  const notes = [];
  const joined = parts.filter(({ block }) => block[0] * block[1] > 1);
  const sizes = new Set(joined.map(({ block }) => block.join(" × ")));
  if (joined.length) {
    const blocks = sizes.size === 1 && joined.length === parts.length ? [...sizes]
      : joined.map(({ block, name }) => `${block.join(" × ")} (${name})`);
    notes.push(`Small maps show blocks of ${blocks.join(", ")} tokens by their largest ${amount}.`);
  }
  if (folded) {
    notes.push(`More cells than pixels: each pixel shows the largest ${amount} that falls on it.`);
  }
  return notes;
}

const GAP = 6; // between two maps of a block, CSS pixels; small ones stand closer
const FLOW_GAP = 12; // between two maps of a flow, which have their names over them
const BETWEEN = 20; // between two blocks
const TITLE = 28; // of a block
const NAME = 17; // H1 …
const NAME_GAP = 3; // between two of them
const SIDE_GAP = 8; // between L1 … and the maps
const CAPTION = 14; // a line under a map
const APART = 5; // between such lines and the map below
const EDGE_ROOM = 4; // the outline of a map at the edge
const EASY = 46; // a map's side, below which blocks rather stand below each other
const SMALLEST = 4; // more heads than have room with that are wider than their frame
const LINE = 14; // the least from one layer's name to the next one's
const LARGEST = 84; // wider screens get paper instead of blurred squares
const TALLEST = 400; // the maps of a block with what stands under them, where they can be lower
const LOWEST = 0.6; // height of a map to its width
const LETTERS = { title: 14, name: 12, largest: 11, smallest: 10 };
const SQUEEZED = 0.6; // least share of its width to which a word is squeezed

export type Placed = Cell & Place; // a small map in its place

export type Words = Pick<Text, "text" | "x" | "y" | "size" | "anchor" | "room">
  & { bold?: boolean; quiet?: boolean };

export interface GridPlan {
  cells: Placed[];
  groups: { name: string; rows: Placed[][] }[]; // of the same cells
  texts: Words[];
  dots: { x: number; y: number; radius: number; color: string }[];
  width: number;
  height: number;
}

export function planGrid(
  { parts, order }: Pick<GridData, "parts" | "order">, width: number, measure: Measure,
): GridPlan {
  const plan: GridPlan = {
    cells: [], groups: [], texts: [], dots: [], width: 0, height: 0,
  };
  if (order) layFlow(plan, parts, order, width - 2 * EDGE_ROOM, measure);
  else layBlocks(plan, parts, width - EDGE_ROOM, measure);
  plan.width += EDGE_ROOM;
  plan.height += EDGE_ROOM;
  plan.texts = plan.texts.filter(({ text }) => text); // not every head has a role
  return plan;
}

function layBlocks(plan: GridPlan, parts: Part[], width: number, measure: Measure) {
  const heads = Math.max(...parts.map((part) => part.heads));
  const layers = Math.max(...parts.map((part) => part.layers));
  const before = Math.ceil(measure(`L${layers}`, LETTERS.name, 400)) + SIDE_GAP;
  let [beside, side, gap] = [parts.length, 0, GAP];
  for (;; beside--) { // as many side by side as leave their maps easy to see
    const room = (width - (beside - 1) * BETWEEN) / beside - before;
    [side, gap] = sizesOf(heads, room);
    if (side >= EASY || beside === 1) break;
  }
  // of many heads in little room only every other, or fewer, is named: no two names touch
  const widest = Math.ceil(measure(`H${heads}`, LETTERS.name, 400)) + NAME_GAP;
  const named = Math.ceil(widest / (side + gap));
  const across = before + heads * (side + gap) - gap + BETWEEN;
  const blocks = parts.map((part) => range(part.layers).map((layer) =>
    range(part.counts[layer]).map((head) => cellOf(part, layer, head)))
    .filter((row) => row.length)); // a layer without attention, of a hybrid model
  const role = roleWords(blocks.flat(2), side + gap - 2, measure);
  const valued = blocks.flat(2).some(({ value }) => value);
  const under = (role.lines + (valued ? 1 : 0)) * CAPTION;
  let y = 0;
  for (let first = 0; first < parts.length; first += beside) {
    const row = blocks.slice(first, first + beside);
    const ends = row.map((rows, n) =>
      layBlock(plan, rows, n * across, y, { before, side, gap, under, named }, role));
    y = Math.max(...ends) + BETWEEN;
  }
  plan.height = y - BETWEEN;
}

function sizesOf(heads: number, room: number): [side: number, gap: number] {
  const side = Math.floor((room + GAP) / heads) - GAP;
  if (side >= 3 * GAP) return [Math.min(LARGEST, side), GAP];
  const step = Math.max(SMALLEST + 1, Math.floor((room + 1) / heads));
  const gap = within(Math.floor(step / 4), 1, GAP);
  return [step - gap, gap];
}

/** Lay out one kind and return its lower edge.
 * @param sizes `before` and `under` are room around the maps; every `named` column has a name */
function layBlock(
  plan: GridPlan, rows: Cell[][], x: number, top: number,
  { before, side, gap, under, named }: Record<string, number>, role: RoleWords,
) {
  const { part } = rows[0][0];
  // of many layers low enough to see the whole kind
  const room = Math.floor(TALLEST / part.layers) - under - GAP;
  const height = Math.max(Math.round(LOWEST * side), Math.min(heightOf(part, side), room));
  const below = Math.max(GAP, LINE - height) + (under && APART);
  plan.dots.push({ x: x + 5, y: top + 10, radius: 5, color: part.color });
  plan.texts.push({ text: part.name, x: x + 16, y: top + 15, size: LETTERS.title, bold: true });
  const left = x + before;
  for (const head of range(part.heads)) {
    const middle = left + head * (side + gap) + side / 2;
    const name = part.together || head % named ? "" : `H${head + 1}`;
    plan.texts.push(small(name, middle, top + TITLE + NAME - 6, "middle"));
  }
  let y = top + TITLE + NAME;
  const laid = rows.map((heads) => {
    plan.texts.push(small(`L${heads[0].layer + 1}`, left - SIDE_GAP, y + height / 2 + 4, "end"));
    const cells = heads.map((cell) =>
      ({ ...cell, x: left + cell.head * (side + gap), y, width: side, height }));
    cells.forEach((cell) => captions(plan, cell, role, cell.value));
    y += height + under + below;
    return cells;
  });
  plan.cells.push(...laid.flat());
  plan.groups.push({ name: part.name, rows: laid });
  plan.width = Math.max(plan.width, left + part.heads * (side + gap) - gap);
  return y - below;
}

function layFlow(plan: GridPlan, parts: Part[], order: Head[], width: number, measure: Measure) {
  const byKind = new Map(parts.map((part) => [part.kind, part]));
  const heads = order.flatMap(([kind, layer, head]) => {
    const part = byKind.get(kind);
    return part ? [cellOf(part, layer, head)] : [];
  });
  const wideOf = (text: string) => measure(text, LETTERS.largest, 400);
  // a map is at least as wide as what stands over it
  const over = ({ name, value }: Cell) => 11 + wideOf(name) + (value ? 6 + wideOf(value) : 0);
  const least = Math.ceil(Math.max(EASY, ...heads.map(over)));
  const columns = Math.max(1, Math.floor((width + FLOW_GAP) / (least + FLOW_GAP)));
  const side = Math.min(LARGEST, Math.floor((width + FLOW_GAP) / columns) - FLOW_GAP);
  const role = roleWords(heads, side + FLOW_GAP - 2, measure);
  let y = 0;
  const rows = range(Math.ceil(heads.length / columns)).map((n) => {
    const row = heads.slice(n * columns, (n + 1) * columns);
    const top = y + NAME;
    const cells = row.map((cell, column) => {
      const x = EDGE_ROOM + column * (side + FLOW_GAP);
      const placed = { ...cell, x, y: top, width: side, height: heightOf(cell.part, side) };
      plan.dots.push({ x: x + 4, y: top - 10, radius: 3.5, color: cell.part.color });
      plan.texts.push({ ...small(cell.name, x + 11, top - 6, "start"), size: LETTERS.largest });
      plan.texts.push({ ...small(cell.value, x + side, top - 6, "end"), size: LETTERS.largest });
      captions(plan, placed, role, "");
      plan.width = Math.max(plan.width, x + side);
      return placed;
    });
    plan.cells.push(...cells);
    y = top + Math.max(...cells.map(({ height }) => height)) + role.lines * CAPTION + FLOW_GAP;
    return cells;
  });
  plan.groups.push({ name: "in order", rows });
  plan.height = Math.max(0, y - FLOW_GAP);
}

const heightOf = ({ queries, keys }: Part, side: number) =>
  Math.round(side * Math.min(1.5, Math.max(LOWEST, queries.length / keys.length)));

function captions(
  plan: GridPlan, { x, y, width, height, role }: Placed, words: RoleWords, value: string,
) {
  const parts = words.lines > 1 ? role.split(" ") : [role];
  const write = (text: string, line: number, style: object) => plan.texts.push(
    { ...small(text, x + width / 2, y + height + 11 + line * CAPTION, "middle"), ...style });
  for (const [line, text] of parts.slice(0, words.lines).entries()) write(text, line, words.style);
  write(value, words.lines, { size: LETTERS.largest });
}

/** The lines of a role under a map, 0 where there is no room or no role, and their style. */
interface RoleWords { lines: number; style: { size: number; room?: number } }

/** Find how every role has room: in one line, or word by word, a long word squeezed. */
function roleWords(heads: Cell[], room: number, measure: Measure): RoleWords {
  const roles = [...new Set(heads.map(({ role }) => role))].filter(Boolean);
  const widest = (texts: string[], size: number) =>
    Math.max(...texts.map((text) => measure(text, size, 400)));
  const { largest, smallest } = LETTERS;
  const size = [largest, smallest].find((letters) => widest(roles, letters) <= room);
  if (size) return { lines: roles.length && 1, style: { size } };
  const words = roles.map((role) => role.split(" "));
  const style = { size: smallest, room };
  const legible = SQUEEZED * widest(words.flat(), smallest) <= room;
  return { lines: legible ? Math.max(...words.map(({ length }) => length)) : 0, style };
}

const small = (text: string, x: number, y: number, anchor: Words["anchor"]) =>
  ({ text, x, y, anchor, size: LETTERS.name, quiet: true });
