// The links in words: the table that stands for them, and what is said of a word.

import { digits, quote } from "../core/text.js";
import { linksOf, OTHER } from "./data.js";

/** @typedef {import("./data.js").LinkData} LinkData */
/** @typedef {import("./data.js").Token} Token */

const NONE = "no partner";

/**
 * A row for each pair in the order of the translation, then the words that are left over.
 * @param {LinkData} data
 * @returns {string[][]} word of the source, of the translation, and strength
 */
export function pairRows(data) {
  const { source, target } = data;
  const rows = target.flatMap((word, index) => {
    const found = linksOf(data, { side: "target", index });
    return found.length
      ? found.map((link) => [source[link.source], word, digits(link.strength)])
      : [["", word, NONE]];
  });
  const linked = new Set(data.links.map((link) => link.source));
  const left = source.flatMap((word, index) => (linked.has(index) ? [] : [[word, "", NONE]]));
  return [...rows, ...left];
}

/**
 * What a screen reader says of the word under the cursor.
 * @param {LinkData} data
 * @param {Token} token
 */
export function sentence(data, token) {
  const { side, index } = token;
  const partners = linksOf(data, token).map((link) =>
    `${quote(data[OTHER[side]][link[OTHER[side]]])} ${digits(link.strength)}`);
  return `${quote(data[side][index])}: ${partners.join(", ") || NONE}`;
}
