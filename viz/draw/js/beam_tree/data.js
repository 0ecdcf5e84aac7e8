// Message of `encode_tree` in viz/draw/beam_tree.py: every prefix that a beam search kept or
// dropped.

/** @typedef {"kept" | "finished" | "dropped" | "forced"} State */

/**
 * @typedef {object} TreeNode a prefix, by its last piece
 * @property {number} parent -1 for a first piece
 * @property {string} text the piece as the tokenizer writes it
 * @property {string} label the same as the screen shows it
 * @property {number} logProb of the piece, given what stands before it
 * @property {number} total log P of the prefix
 * @property {number} step from 1
 * @property {State} state
 * @property {string} reason why it was dropped
 * @property {number | null} score of a finished hypothesis
 * @property {number} rank by log P of the prefix among those of its step, from 1
 * @property {number} candidates of its step
 * @property {number[]} children the most probable first
 *
 * @typedef {object} TreeData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {string} title
 * @property {string} note
 * @property {number} best the last piece of the translation
 * @property {number | null} chosen
 * @property {string} language that is written
 * @property {TreeNode[]} nodes a parent stands before its children
 * @property {number[]} roots the first pieces, the most probable first
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {TreeData}
 */
export function read({ meta, arrays }) {
  const { parents, steps, states, reasons, logProbs, totals, scores } = arrays;
  /** @type {TreeNode[]} */
  const nodes = meta.texts.map((/** @type {string} */ text, /** @type {number} */ n) => ({
    parent: parents[n], text, label: meta.labels[n], logProb: logProbs[n], total: totals[n],
    step: steps[n], state: meta.states[states[n]], reason: meta.reasons[reasons[n]],
    score: Number.isNaN(scores[n]) ? null : scores[n], rank: 0, candidates: 0, children: [],
  }));
  const { title, note, caption, best, chosen, language } = meta;
  return { title, note, caption, best, chosen, language, nodes, roots: connect(nodes) };
}

/**
 * Give each node its rank and its children.
 * @param {TreeNode[]} nodes
 * @returns {number[]} those without a parent
 */
function connect(nodes) {
  /** @type {number[]} */
  const roots = [];
  /** @type {Map<number, number[]>} */
  const bySteps = new Map();
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

/**
 * The nodes from a first piece to this one.
 * @param {Pick<TreeData, "nodes">} data
 * @param {number} node
 */
export function pathTo({ nodes }, node) {
  const path = [];
  for (let at = node; at >= 0; at = nodes[at].parent) path.push(at);
  return path.reverse();
}

/**
 * Write a prefix as it is read.
 * @param {Pick<TreeData, "nodes">} data
 * @param {number} node
 */
export const prefixOf = (data, node) =>
  pathTo(data, node).map((n) => data.nodes[n].text).filter((text) => text !== END).join("")
    .replaceAll(SPACE, " ").trim();

/**
 * Join the pieces of a prefix as the tokenizer writes them; the page finds the node by it.
 * @param {TreeData} data
 * @param {number} node
 */
export const writtenTo = (data, node) =>
  pathTo(data, node).map((n) => data.nodes[n].text).join("");

export const END = "</s>";
const SPACE = "▁"; // as SentencePiece writes it

/**
 * Find the node of the same prefix in another tree, so that a new search keeps the selection.
 * @param {TreeData} before
 * @param {number} node
 * @param {TreeData} data
 */
export function sameIn(before, node, data) {
  let [at, next] = [-1, data.roots];
  for (const { text } of pathTo(before, node).map((n) => before.nodes[n])) {
    at = next.find((n) => data.nodes[n].text === text) ?? -1;
    if (at < 0) return null;
    next = data.nodes[at].children;
  }
  return at;
}

/**
 * @typedef {object} Course how the tree is drawn, before anything has a place
 * @property {boolean[]} visible
 * @property {boolean[]} top whether it is on the path to the translation
 * @property {boolean[]} leads whether a finished hypothesis goes through it
 * @property {number[]} next the child that goes on in its row; -1 where the row ends
 */

/**
 * A row goes on to the translation, else to the best finished hypothesis, else as far as it can.
 * @param {TreeData} data
 * @param {boolean} withDropped
 * @returns {Course}
 */
export function courseOf(data, withDropped) {
  const { nodes, best, chosen } = data;
  const top = Array(nodes.length).fill(false);
  for (const n of pathTo(data, best)) top[n] = true;
  const visible = nodes.map(({ state }, n) => withDropped || state !== "dropped" || top[n]);
  for (const n of chosen === null ? [] : pathTo(data, chosen)) visible[n] = true;
  const score = nodes.map((node) => node.score ?? -Infinity); // the best in the subtree
  const deepest = nodes.map(({ step }) => step);
  const next = Array(nodes.length).fill(-1);
  /** Test whether a row goes on to b and not to a. @param {number} a @param {number} b */
  const prefers = (a, b) => a < 0 || Number(top[b]) - Number(top[a]) > 0
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
  return { visible, top, leads: score.map((value, n) => value > -Infinity || top[n]), next };
}
