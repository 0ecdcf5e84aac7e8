// The ribbons in words: the table that stands for it, and what is said of a token.

import { number, quote } from "../core/text.js";
import { OTHER, pair, weightOf } from "./data.js";

/** @typedef {import("./data.js").RibbonData} RibbonData */
/** @typedef {import("./data.js").Token} Token */

/** @param {RibbonData} data @param {number} query @param {number} key */
export const arrow = ({ queries, keys }, query, key) =>
  `${quote(queries[query])} → ${quote(keys[key])}`;

/**
 * For each query, which key each head looks at most.
 * @param {RibbonData} data
 * @returns {string[][]}
 */
export const strongestOfAll = (data) => data.queries.map((token, index) => [token,
  ...data.heads.map((_, head) => strongest(data, head, { side: "queries", index }).join(" "))]);

/**
 * What a screen reader says of the token under the cursor.
 * @param {RibbonData} data
 * @param {number[]} on
 * @param {Token} at
 * @param {Token | null} picked
 */
export function sentence(data, on, at, picked) {
  if (picked && picked.side !== at.side) {
    const [query, key] = pair(picked, at);
    const weights = on.map((head) =>
      `${data.heads[head]} ${number(weightOf(data, head, query, key))}`);
    return `${arrow(data, query, key)} ${weights.join(", ")}`;
  }
  const most = on.map((head) => {
    const [token, weight] = strongest(data, head, at);
    return `${data.heads[head]} ${quote(token)} ${weight}`;
  });
  const way = at.side === "queries" ? "→" : "←";
  return `${quote(data[at.side][at.index])} ${way} ${most.join(", ")}`;
}

/**
 * The token of the other side that a head ties most to this one, and the weight as text.
 * @param {RibbonData} data
 * @param {number} head
 * @param {Token} token
 */
function strongest(data, head, token) {
  const others = data[OTHER[token.side]];
  const weights = others.map((_, index) => weightOf(data, head, ...pair(token, { index })));
  const most = Math.max(...weights);
  return [others[weights.indexOf(most)], number(most)];
}
