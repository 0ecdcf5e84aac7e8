// Every prefix that a beam search kept or dropped, and the layout of their tree: a step is a
// column, as wide as its widest piece, and in it the prefixes stand in the order of their parents,
// so that no line crosses another.

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

/** What is drawn: the path to the translation, and what leads to a finished hypothesis. */
function courseOf({ nodes, best, chosen }: TreeData, withDropped: boolean) {
  const top = nodes.map(() => false);
  for (const n of pathTo({ nodes }, best)) top[n] = true;
  const visible = nodes.map(({ state }, n) => withDropped || state !== "dropped" || top[n]);
  for (const n of chosen === null ? [] : pathTo({ nodes }, chosen)) visible[n] = true;
  const leads = nodes.map(({ score }, n) => score !== null || top[n]);
  for (let n = nodes.length - 1; n >= 0; n--) {
    const { parent } = nodes[n];
    if (parent < 0) continue;
    leads[parent] ||= leads[n];
    visible[parent] ||= visible[n];
  }
  return { visible, top, leads };
}

export interface NodePlace {
  row: number;
  x: number; // where its piece begins
  y: number; // the top of its row
  label: number; // width of the piece alone
  width: number; // with the mark of a hypothesis that ends with it
  end: number; // of its line: where the lines to its children begin, or its piece ends
}

export type TreePlan = ReturnType<typeof planTree>;

const FONTS = [14, 12]; // the second where the tree does not fit its frame with the first
export const SMALL = 12; // what was dropped, and scores
export const NUMBERS = 20; // height of the numbers of the steps
export const ROW = { height: 28, middle: 9, line: 20 }; // of the letters, and of the line below
export const ROOT = 12; // room of the dot where all begin
export const MARK = { before: 4, width: 8, after: 4 }; // of a hypothesis that ends, and its score
const GAP = { least: 12, each: 6 }; // between two steps; for each row that a line goes up or down

export const isMark = ({ text, score }: Pick<TreeNode, "text" | "score">) =>
  text === END && score !== null;

export function planTree(
  data: TreeData, withDropped: boolean, width: number, measure: Measure,
) {
  const course = courseOf(data, withDropped);
  const steps = stepsOf(data, course);
  const [large, small] = FONTS;
  const plan = planWith(large, data, course, steps, measure);
  return plan.width <= width ? plan : planWith(small, data, course, steps, measure);
}

type Course = ReturnType<typeof courseOf>;

/** List what is drawn of each step from top to bottom, the translation first. */
function stepsOf({ nodes, roots }: TreeData, { visible, top }: Course) {
  const inOrder = (found: number[]) => found.filter((n) => visible[n])
    .sort((a, b) => Number(top[b]) - Number(top[a]));
  const steps: number[][] = [[]]; // they count from 1
  let step = inOrder(roots);
  while (step.length) {
    steps.push(step);
    step = step.flatMap((n) => inOrder(nodes[n].children));
  }
  return steps;
}

function planWith(
  font: number, { nodes }: TreeData, course: Course, steps: number[][], measure: Measure,
) {
  const sizes = sizesOf(font, nodes, course, measure);
  const places: (NodePlace | null)[] = nodes.map(() => null); // null for what is not drawn
  const columns = [0]; // where each step begins
  let end = 0; // of the widest piece of the step before
  for (const step of steps.slice(1)) {
    const jumps = step.map((n, row) => Math.abs(row - (places[nodes[n].parent]?.row ?? 0)));
    const x = columns.length === 1 ? ROOT : end + GAP.least + GAP.each * Math.max(...jumps);
    columns.push(x);
    step.forEach((n, row) => {
      const before = places[nodes[n].parent];
      if (before) before.end = end;
      const size = sizes[n];
      places[n] = { row, x, y: NUMBERS + row * ROW.height, ...size, end: x + size.width };
    });
    end = x + Math.max(...step.map((n) => sizes[n].width));
  }
  return {
    course, font, columns, places, steps, width: end + 1,
    height: NUMBERS + Math.max(...steps.map(({ length }) => length)) * ROW.height,
  };
}

/** Few pieces are many nodes: each is measured once. */
function sizesOf(
  font: number, nodes: TreeNode[], { visible, top }: Course, measure: Measure,
): Pick<NodePlace, "label" | "width">[] {
  const known = new Map<string, number>();
  const widthOf = (text: string, size: number, weight: number) => {
    const key = `${size} ${weight} ${text}`;
    const width = known.get(key) ?? Math.ceil(measure(text, size, weight));
    known.set(key, width);
    return width;
  };
  return nodes.map((node, n) => {
    if (!visible[n]) return { label: 0, width: 0 };
    const { label: words, state, score } = node;
    const weight = top[n] ? 600 : 400;
    const label = isMark(node) ? 0 : widthOf(words, state === "dropped" ? SMALL : font, weight);
    if (score === null) return { label, width: label };
    const mark = MARK.width + MARK.after + widthOf(fixed(score, 2), SMALL, weight);
    return { label, width: label + (label && MARK.before) + mark };
  });
}
