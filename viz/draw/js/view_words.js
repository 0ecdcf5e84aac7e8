// The head view in words: the table that stands for it, and what is said of a token.

import { make, number, quote } from "./shared.js";

export const OTHER = { queries: "keys", keys: "queries" };

export const weightOf = ({ queries, keys, weights }, head, query, key) =>
  weights[(head * queries.length + query) * keys.length + key];

/** Query and key of a token and one of the other side. */
export const pair = (one, other) =>
  (one.side === "queries" ? [one.index, other.index] : [other.index, one.index]);

export const arrow = ({ queries, keys }, query, key) =>
  `${quote(queries[query])} → ${quote(keys[key])}`;

/** For each query, which key each head looks at most. */
export function tableOf(data) {
  const { queries, heads, rows } = data;
  const cells = (tag, ...texts) => make("tr", {}, ...texts.map((text) => make(tag, {}, text)));
  return [
    make("caption", {}, "Where each word looks most"),
    make("thead", {}, cells("th", rows, ...heads)),
    make("tbody", {}, ...queries.map((token, index) => cells("td", token,
      ...heads.map((_, head) => strongest(data, head, { side: "queries", index }).join(" "))))),
  ];
}

/** What a screen reader says of the token under the cursor. */
export function sentence({ data, at, picked, on }) {
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

/** The token of the other side that a head ties most to this one, and the weight as text. */
function strongest(data, head, token) {
  const others = data[OTHER[token.side]];
  const weights = others.map((_, index) => weightOf(data, head, ...pair(token, { index })));
  const most = Math.max(...weights);
  return [others[weights.indexOf(most)], number(most)];
}
