// The four parts of a map over a pair of texts, as an encoder such as BERT reads two: which text
// looks, and into which. viz/draw/explorer.py writes them.

import { make } from "../core/dom.js";

export const PAIR_KIND = "encoder_self"; // the one kind whose rows and columns are a pair

/**
 * @typedef {object} PairPart
 * @property {"first" | "second"} looking
 * @property {"first" | "second"} looked_at
 * @property {[first: number, end: number]} rows
 * @property {[first: number, end: number]} keys
 * @property {string} note instead of the map's own
 * @property {import("../head_grid/data.js").Part} part all heads small
 */

let controls = 0; // several explorers may share a page, and each has its own

/** @param {PairPart} part */
export const nameOf = ({ looking, looked_at: lookedAt }) => `${looking} → ${lookedAt}`;

/**
 * Make a radio button for each part and one for the whole.
 * @param {PairPart[]} parts
 * @param {PairPart | null} chosen null is the whole
 * @param {(part: PairPart | null) => void} choose
 */
export function pairControl(parts, chosen, choose) {
  const name = `pair-${++controls}`;
  const choices = [null, ...parts].map((part) => {
    const input = make("input", { type: "radio", name });
    input.checked = part === chosen;
    input.addEventListener("change", () => choose(part));
    return make("label", {}, input, part ? nameOf(part) : "both");
  });
  return make("fieldset", { class: "hl hl-explorer-pair" },
    make("legend", {}, "Texts of the pair"), ...choices);
}

/**
 * Take the labels and words of this part out of a map or its ribbons.
 * @template {{queries: string[], keys: string[], rowNames: string[] | null, rows: string,
 *   columns: string}} D
 * @param {D} data
 * @param {PairPart} part
 * @returns {D}
 */
export const labelsOf = (data, { rows, keys, looking, looked_at: lookedAt }) => ({
  ...data,
  queries: data.queries.slice(...rows),
  keys: data.keys.slice(...keys),
  rowNames: data.rowNames && data.rowNames.slice(...rows),
  rows: `${data.rows} (${looking} text)`,
  columns: `${data.columns} (${lookedAt} text)`,
});

/**
 * Take the weights of this part, `[query, key]`.
 * @param {Float32Array} weights of the whole map
 * @param {number} width how many keys that has
 * @param {PairPart} part
 */
export function weightsOf(weights, width, { rows: [first, end], keys: [left, right] }) {
  const wide = right - left;
  const part = new Float32Array((end - first) * wide);
  for (let row = first; row < end; row++) {
    const from = row * width;
    part.set(weights.subarray(from + left, from + right), (row - first) * wide);
  }
  return part;
}
