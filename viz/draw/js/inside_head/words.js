// What is told of a value that is pointed at.

import { figure, quote } from "../core/text.js";

/** @typedef {import("./data.js").InsideData} InsideData */

const NAMES = {
  x: "x", q: "q", k: "k", v: "v", products: "q ∘ k", dots: "q · k", seen: "mask",
  weights: "α", weighted: "α v", z: "z", result: "what this head adds",
  others: "what the other heads add", added: "x + all heads", normalised: "LayerNorm",
};

/**
 * @param {InsideData} data
 * @param {Pick<import("./plan.js").Part, "name" | "perKey" | "columns">} part
 * @param {{row: number, column: number}} at
 * @returns {[what: string, value: string]}
 */
export function wordsOf(data, { name, perKey, columns }, { row, column }) {
  const value = data.arrays[name][row * columns + column];
  const key = perKey ? ` · ${quote(data.keys[row])}` : "";
  const nth = columns > 1 ? ` · ${column + 1} of ${columns}` : "";
  switch (name) {
    case "seen": return [NAMES.seen + key, value ? "seen" : "hidden"];
    case "scaled": return [`q · k ${data.factor}${key}`, figure(value)];
    case "norms": return [`length of what head ${column + 1} adds`, figure(value)];
    case "concat": return [ofHead(data, column), figure(value)];
    default: return [NAMES[name] + key + nth, figure(value)];
  }
}

/** @param {InsideData} data @param {number} column among the values of all heads */
function ofHead({ shapes, head }, column) {
  const [, width] = shapes.concat;
  const which = Math.floor(column / width);
  const own = which === head ? ", this one" : "";
  return `z of head ${which + 1}${own} · ${(column % width) + 1}`;
}

/** The numbers of each key, as rows of a table. @param {InsideData} data */
export const tableRows = ({ keys, arrays: { dots, scaled, seen, weights } }) =>
  keys.map((key, n) => [
    key, figure(dots[n]), figure(scaled[n]), seen[n] ? "seen" : "hidden", figure(weights[n]),
  ]);

/** What the colours mean. @param {InsideData} data */
export function noteOn({ ends }) {
  /** @param {import("./data.js").ArrayName} name */
  const end = (name) => figure(ends[name] ?? 1);
  return `Olive is below 0, purple above. Colours stay the same from ±${end("q")} on for q, ±${
    end("k")} for k, ±${end("v")} for v and z, ±${end("x")} in the stream.`;
}
