// Message of `encode_links` in viz/draw/word_links.py: the words of a sentence and of its
// translation, and which of them belong together how strongly.

/** @typedef {"source" | "target"} Side */
/** A word of one of the two sentences. @typedef {{side: Side, index: number}} Token */
/** Two word numbers, from 0, and the strength between them.
 * @typedef {{source: number, target: number, strength: number}} Link */

/**
 * @typedef {object} LinkData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {string} title
 * @property {string} madeBy layer, heads, row and lens, in a line
 * @property {string} note
 * @property {string} color of the links
 * @property {string[]} source the words that were read
 * @property {string[]} target the words that were written
 * @property {[string, string]} languages what both are called
 * @property {Link[]} links
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {LinkData}
 */
export const read = ({ meta, arrays: { ends, strengths } }) => ({
  ...meta,
  links: Array.from(strengths, (strength, n) => ({
    source: ends[2 * n], target: ends[2 * n + 1], strength,
  })),
});

/** @type {Record<Side, Side>} */
export const OTHER = { source: "target", target: "source" };

/**
 * The links of a word, the strongest first.
 * @param {Pick<LinkData, "links">} data
 * @param {Token} token
 */
export const linksOf = ({ links }, { side, index }) =>
  links.filter((link) => link[side] === index).sort((a, b) => b.strength - a.strength);

/** @param {Token | null} token @param {Token | null} other */
export const same = (token, other) =>
  token?.side === other?.side && token?.index === other?.index;
