// Every prefix that a beam search kept or dropped, and the layout of their tree: a step is a
// column, as wide as its widest piece, and a prefix is written along its row like a text.

import { fixed } from "../core/text.ts";
import type { Measure } from "../core/theme.ts";

type State = "kept" | "finished" | "dropped" | "forced";

export interface TreeNode { // a prefix, by its last piece
  parent: number; // -1 for a first piece
  text: string; // the piece as the tokenizer writes it
  label: string; // the same as the screen shows it
  log_prob: number; // of the piece, given what stands before it
  total: number; // log P of the prefix
  step: number; // from 1
  state: State;
  reason: string; // why it was dropped
  score: number | null; // of a finished hypothesis
  rank: number; // by log P of the prefix among those of its step, from 1
  candidates: number; // of its step
  children: number[]; // the most probable first
}

export interface TreeData { // the message of `encode_tree` in viz/draw/beam_tree.py
  title: string;
  note: string;
  best: number; // the last piece of the translation
  chosen: number | null;
  language: string; // that is written
  dropped?: boolean; // whether the host shows dropped candidates
  nodes: TreeNode[]; // a parent stands before its children
  roots: number[]; // the first pieces, the most probable first
}

/** Give each node its rank and its children. @returns those without a parent */
export function connect(nodes: TreeNode[]): number[] {
  const roots: number[] = [];
  const bySteps = new Map<number, number[]>();
  const order = [...nodes.keys()].sort((a, b) => nodes[b].total - nodes[a].total);
  for (const n of order) {
    const { parent, step } = nodes[n];
    (parent < 0 ? roots : nodes[parent].children).push(n);
    const same = bySteps.get(step) ?? [];
    nodes[n].rank = same.push(n);
    bySteps.set(step, same);
  }
  for (const same of bySteps.values()) for (const n of same) nodes[n].candidates = same.length;
  return roots;
}

export function pathTo({ nodes }: Pick<TreeData, "nodes">, node: number) {
  const path = [];
  for (let at = node; at >= 0; at = nodes[at].parent) path.push(at);
  return path.reverse();
}

export const prefixOf = (data: Pick<TreeData, "nodes">, node: number) =>
  pathTo(data, node).map((n) => data.nodes[n].text).filter((text) => text !== END).join("")
    .replaceAll(SPACE, " ").trim();

const END = "</s>";
const SPACE = "▁"; // as SentencePiece writes it

/** Find the node of the same prefix in another tree, so that a new search keeps the selection. */
export function sameIn(before: TreeData, node: number, data: TreeData) {
  let [at, next] = [-1, data.roots];
  for (const { text } of pathTo(before, node).map((n) => before.nodes[n])) {
    at = next.find((n) => data.nodes[n].text === text) ?? -1;
    if (at < 0) return null;
    next = data.nodes[at].children;
  }
  return at;
}

/** How the tree is drawn, before anything has a place. */
type Course = ReturnType<typeof courseOf>;

/** A row goes on to the translation, else the best finished hypothesis, else as far as it can. */
export function courseOf(data: TreeData, withDropped: boolean) {
  const { nodes, best, chosen } = data;
  const top: boolean[] = Array(nodes.length).fill(false); // on the path to the translation
  for (const n of pathTo(data, best)) top[n] = true;
  const visible = nodes.map(({ state }, n) => withDropped || state !== "dropped" || top[n]);
  for (const n of chosen === null ? [] : pathTo(data, chosen)) visible[n] = true;
  const score = nodes.map((node) => node.score ?? -Infinity); // the best in the subtree
  const deepest = nodes.map(({ step }) => step);
  // the child that goes on in a row; -1 where the row ends
  const next: number[] = Array(nodes.length).fill(-1);
  /** Test whether a row goes on to b and not to a. */
  const prefers = (a: number, b: number) => a < 0 || Number(top[b]) - Number(top[a]) > 0
    || (!top[a] && (score[b] > score[a] || (score[b] === score[a] && deepest[b] > deepest[a])));
  for (let n = nodes.length - 1; n >= 0; n--) {
    for (const child of nodes[n].children) {
      if (!visible[child]) continue;
      visible[n] = true;
      score[n] = Math.max(score[n], score[child]);
      deepest[n] = Math.max(deepest[n], deepest[child]);
      const goesOn = nodes[child].state !== "dropped" || top[child];
      if (goesOn && prefers(next[n], child)) next[n] = child;
    }
  }
  // `leads`: a finished hypothesis goes through it
  return { visible, top, leads: score.map((value, n) => value > -Infinity || top[n]), next };
}

export interface NodePlace {
  row: number;
  x: number; // where its piece begins
  y: number; // the top of its row
  label: number; // width of the piece alone
  width: number; // with the mark of a hypothesis that ends with it
  end: number; // of its line: where the next piece begins, or its last branch parts
  bend: number | null; // where a line comes from another row; null where its own goes on
}

export type TreePlan = ReturnType<typeof planTree>;

const FONTS = [14, 12]; // the second where the tree does not fit its frame with the first
export const SMALL = 12; // what was dropped, and scores
export const NUMBERS = 20; // height of the numbers of the steps
export const ROW = { height: 28, middle: 9, line: 20 }; // of the letters, and of the line below
export const ROOT = 12; // room of the dot where all begin
export const MARK = { before: 4, width: 8, after: 4 }; // of a hypothesis that ends, and its score
const GAP = 10; // between two steps
const SLOT = 5; // each further line between them
export const BEND = 6; // from a line between rows to the piece that it leads to

export const isMark = ({ text, score }: Pick<TreeNode, "text" | "score">) =>
  text === END && score !== null;

export function planTree(
  data: TreeData, withDropped: boolean, width: number, measure: Measure,
) {
  const course = courseOf(data, withDropped);
  const lanes = lanesOf(data, course);
  const [large, small] = FONTS;
  const plan = planWith(large, data, course, lanes, measure);
  return plan.width <= width ? plan : planWith(small, data, course, lanes, measure);
}

function planWith(
  font: number, data: TreeData, course: Course, lanes: Lanes, measure: Measure,
) {
  const sizes = sizesOf(font, data, course, measure);
  const wide: number[] = []; // of each step
  sizes.forEach((size, n) => {
    const { step } = data.nodes[n];
    if (size) wide[step] = Math.max(wide[step] ?? 0, size.width);
  });
  const columns = [0]; // where each step begins
  for (let step = 1, x = ROOT; step < wide.length; step++) {
    if (step > 1) x += GAP + SLOT * Math.max(0, (lanes.widest[step] ?? 0) - 1);
    columns.push(x);
    x += wide[step];
  }
  const places: (NodePlace | null)[] = data.nodes.map(() => null); // null for what is not drawn
  const rows: number[][] = Array.from({ length: lanes.rows }, () => []); // from left to right
  for (const { nodes, row, parent } of lanes.runs) {
    nodes.forEach((n, nth) => {
      const x = columns[data.nodes[n].step];
      const size = sizes[n] as Size;
      const bend = nth || course.top[n] ? null : x - BEND - SLOT * (lanes.slots.get(parent) ?? 0);
      const before = places[data.nodes[n].parent];
      if (before) before.end = Math.max(before.end, bend ?? x);
      places[n] = { row, x, y: NUMBERS + row * ROW.height, ...size, end: x + size.width, bend };
      rows[row].push(n);
    });
  }
  rows.forEach((row) => row.sort((a, b) => data.nodes[a].step - data.nodes[b].step));
  const last = wide.length - 1;
  return {
    course, font, columns, places, rows, width: columns[last] + wide[last] + 1,
    height: NUMBERS + rows.length * ROW.height,
  };
}

type Size = Pick<NodePlace, "label" | "width">;

/** Few pieces are many nodes: each is measured once. */
function sizesOf(
  font: number, { nodes }: TreeData, { visible, top }: Course, measure: Measure,
): (Size | null)[] {
  const known = new Map<string, number>();
  const widthOf = (text: string, size: number, weight: number) => {
    const key = `${size} ${weight} ${text}`;
    const width = known.get(key) ?? Math.ceil(measure(text, size, weight));
    known.set(key, width);
    return width;
  };
  return nodes.map((node, n) => {
    if (!visible[n]) return null;
    const { label: words, state, score } = node;
    const weight = top[n] ? 600 : 400;
    const label = isMark(node) ? 0 : widthOf(words, state === "dropped" ? SMALL : font, weight);
    if (score === null) return { label, width: label };
    const mark = MARK.width + MARK.after + widthOf(fixed(score, 2), SMALL, weight);
    return { label, width: label + (label && MARK.before) + mark };
  });
}

const FREE = 1; // steps that a row stays empty between two prefixes
// what a row costs a prefix: each line that it would cross, how far away the row is, and for each
// of its own steps that others will cross it on their way to a row further down
const COST = { crossing: 3, far: 1, ahead: 0.9 };

interface Run { // nodes that stand in one row, one after the other
  nodes: number[];
  first: number; // step
  last: number; // step
  parent: number; // node that it parts from; -1 at the start
  row: number;
}

type Lanes = ReturnType<typeof lanesOf>;

function lanesOf(data: TreeData, course: Course) {
  const runs = runsOf(data, course);
  const busy = runsByStep(runs.slice(1));
  const rows = 1 + Math.max(0, ...busy);
  const rowOf: number[] = []; // by node
  const taken: (Run | undefined)[] = Array(rows); // the last run in each row
  for (const run of runs) {
    run.row = run === runs[0] ? 0 : cheapest(run, rowOf[run.parent] ?? 0, taken, busy);
    taken[run.row] = run;
    for (const n of run.nodes) rowOf[n] = run.row;
  }
  return { runs, rows, ...slotsOf(runs, rowOf) };
}

function runsOf({ nodes }: TreeData, { visible, top, next }: Course): Run[] {
  const runs: Run[] = [];
  nodes.forEach(({ parent, step }, first) => {
    const goesOn = parent < 0 ? false : next[parent] === first;
    if (!visible[first] || goesOn) return;
    const row = [first];
    for (let n = next[first]; n >= 0; n = next[n]) row.push(n);
    runs.push({ nodes: row, first: step, last: step + row.length - 1, parent, row: 0 });
  });
  const isTop = (run: Run) => Number(top[run.nodes[0]]);
  return runs.sort((a, b) => isTop(b) - isTop(a) || a.first - b.first || b.last - a.last);
}

function runsByStep(runs: Run[]) {
  const end = Math.max(0, ...runs.map(({ last }) => last)) + FREE + 1;
  const counts = Array(end + 1).fill(0);
  for (const { first, last } of runs) {
    counts[first]++;
    counts[last + FREE + 1]--;
  }
  for (let step = 1; step <= end; step++) counts[step] += counts[step - 1];
  return counts;
}

/** Choose a free row for a run; there is one, as runs come in the order of their first steps.
 * @param busy how many runs there are at each step */
function cheapest(run: Run, from: number, taken: (Run | undefined)[], busy: number[]) {
  const { first, last, parent } = run;
  const length = last - first + 1;
  const depth = busy.slice(first, last + 1).reduce((sum, count) => sum + count, 0) / length;
  let [best, least] = [0, Infinity];
  for (let row = 1; row < taken.length; row++) {
    if ((taken[row]?.last ?? -Infinity) + FREE >= first) continue;
    let crossings = 0;
    for (let n = Math.min(row, from) + 1; n < Math.max(row, from); n++) {
      const other = taken[n];
      if (other && other.last >= first && !(other.first === first && other.parent === parent)) {
        crossings++;
      }
    }
    const cost = COST.crossing * crossings + COST.far * Math.abs(row - from)
      + COST.ahead * (length - 1) * Math.max(0, 1 - row / depth);
    if (cost < least) [best, least] = [row, cost];
  }
  return best;
}

/** Place the lines between rows: one line forks for a parent; two parents' lines stand apart. */
function slotsOf(runs: Run[], rowOf: number[]) {
  const lines = new Map<number, { step: number; top: number; bottom: number }>();
  for (const { parent, first, row } of runs) {
    const line = lines.get(parent) ?? {
      step: first, top: rowOf[parent] ?? 0, bottom: rowOf[parent] ?? 0,
    };
    line.top = Math.min(line.top, row);
    line.bottom = Math.max(line.bottom, row);
    lines.set(parent, line);
  }
  // by the node they part from: lines of one step and one slot never share a row; 0 is next to the
  // step that they lead to
  const slots = new Map<number, number>();
  const widest: number[] = []; // how many slots there are before each step
  const placed = new Map<string, { top: number; bottom: number }[]>();
  for (const [parent, line] of lines) {
    const others = (n: number) => placed.get(`${line.step} ${n}`) ?? [];
    const overlaps = (other: { top: number; bottom: number }) =>
      other.top <= line.bottom && line.top <= other.bottom;
    let slot = 0;
    while (others(slot).some(overlaps)) slot++;
    placed.set(`${line.step} ${slot}`, [...others(slot), line]);
    slots.set(parent, slot);
    widest[line.step] = Math.max(widest[line.step] ?? 0, slot + 1);
  }
  return { slots, widest };
}
