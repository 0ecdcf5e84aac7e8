// A node in words: what is told beside it, what is read out, and the table that stands for the
// tree.

import { figure, number, quote } from "../core/text.js";
import { prefixOf } from "./data.js";

/** @typedef {import("./data.js").TreeData} TreeData */

const LONGEST = 240; // letters of a prefix beside the pointer: its end, for it is about its end

/** @param {TreeData} data @param {number} n */
export function piece({ nodes }, n) {
  const { label, logProb } = nodes[n];
  return [quote(label), number(Math.min(1, Math.exp(logProb)))];
}

/**
 * Lines under the piece and its probability.
 * @param {TreeData} data
 * @param {number} n
 */
export function linesOn(data, n) {
  const { total, score } = data.nodes[n];
  const whole = prefixOf(data, n);
  const prefix = whole.length > LONGEST ? `…${whole.slice(-LONGEST)}` : whole;
  const numbers = `log P of the prefix ${figure(total)}`;
  return [
    ...(prefix ? [quote(prefix)] : []),
    score === null ? numbers : `${numbers}, score ${figure(score)}`,
    stateOf(data, n),
  ];
}

/**
 * What became of a node: `Kept at step 4, rank 2 of 8.`
 * @param {TreeData} data
 * @param {number} n
 */
export function stateOf({ nodes }, n) {
  const { state, step, rank, of, reason, children } = nodes[n];
  if (state === "forced") return `Forced at step ${step}.`;
  const name = state[0].toUpperCase() + state.slice(1);
  const ranked = `${name} at step ${step}, rank ${rank} of ${of}.`;
  if (reason) return `${ranked} ${reason}`;
  const ended = state === "kept" && children.every((child) => nodes[child].state === "dropped")
    && nodes.some((other) => other.step > step);
  return ended ? `${ranked} None of its continuations was kept.` : ranked;
}

/** What a screen reader says of the node under the cursor. @param {TreeData} data
 * @param {number} n */
export const sentence = (data, n) => [piece(data, n).join(" "), ...linesOn(data, n)].join(". ");

/** Over `hypothesisRows`. @param {TreeData} data */
export const headOf = ({ language }) => [language, "Score", "log P", "Pieces"];

/**
 * The finished hypotheses, the best first; the translation stands there in any case.
 * @param {TreeData} data
 * @returns {string[][]}
 */
export function hypothesisRows(data) {
  const { nodes, best } = data;
  const finished = [...nodes.keys()].filter((n) => n === best || nodes[n].score !== null);
  finished.sort((a, b) => Number(b === best) - Number(a === best)
    || Number(nodes[b].score) - Number(nodes[a].score));
  return finished.map((n) => {
    const { score, total, step } = nodes[n];
    return [
      prefixOf(data, n), score === null ? "not finished" : figure(score), figure(total),
      String(step),
    ];
  });
}
