// The editor in words: the table that stands for its marks, and where the text comes from.

import { logText, number } from "../core/text.js";

/** @typedef {import("./data.js").EditorData} EditorData */

/**
 * A row for each word.
 * @param {EditorData} data
 * @returns {string[][]} word, probability, its logarithm, and what is more probable in its place
 */
export const wordRows = ({ text, words, pieces }) => words.map((word) => {
  const own = pieces.slice(word.first, word.first + word.count);
  const rather = own.flatMap((piece) => piece.others.slice(0, 1).filter(({ p }) => p > piece.p)
    .map(({ label, p }) => `${label} ${number(p)} for ${piece.label}`));
  return [
    text.slice(word.start, word.end) || "end of the sentence", number(word.p),
    logText(word.logProb), rather.join(", ") || "nothing else",
  ];
});

/**
 * Always one line, so that nothing below moves.
 * @param {EditorData} data
 * @param {boolean} changed whether something was typed since
 */
export function statusOf({ byHand, forced }, changed) {
  if (byHand || changed) return "Written by hand.";
  if (forced) return `Forced: the first ${forced === 1 ? "piece" : `${forced} pieces`}, overlined.`;
  return "As the model wrote it.";
}
