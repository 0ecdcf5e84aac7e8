// Message of `encode_lines` in viz/lines.py: the sentences, and each head over all of them.

/** @import { Head } from "../head_grid/data.js" */

/**
 * A measure over the sentences: its mean, and where it differs between them, their standard
 * deviation, and the lowest and the highest with the number of the sentence that has it.
 * @typedef {[mean: number, deviation?: number, lowest?: [number, number],
 *   highest?: [number, number]]} OverSentences
 */

/**
 * @typedef {object} HeadRow one head over all sentences
 * @property {number} layer from 0, like head
 * @property {number} head
 * @property {string} name
 * @property {string} role "" where nothing dominates
 * @property {[role: string, count: number][]} roles in how many sentences it has which
 * @property {Record<string, OverSentences>} values by measure
 */

/**
 * @typedef {object} SummaryPart the heads of one kind
 * @property {"encoder_self" | "decoder_self" | "cross"} kind
 * @property {string} title
 * @property {string} color
 * @property {HeadRow[]} heads
 * @property {number} columns of the profile: the first is all that lies farther back
 * @property {Float64Array} profile `[head, column]`
 * @property {import("../core/raster.js").Palette} palette
 */

/**
 * @typedef {object} Sentence
 * @property {number} number of its line, from 1
 * @property {string} source
 * @property {string} target
 * @property {number | null} logP
 * @property {number} length pieces of both sides
 * @property {number} unlike how far heads of a kind differ from each other
 * @property {[name: string, code: string][]} sides source and target, with their languages' codes
 */

/**
 * @typedef {object} LinesData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {Head} selected the head that each sentence opens with; -1 stands for a mean
 * @property {boolean} together whether a row is of all heads of a layer
 * @property {string} amount what is summed up, in a word: weight or share
 * @property {number} reach the farthest distance with a column of its own
 * @property {Record<string, string>} measures their explanations
 * @property {Sentence[]} sentences
 * @property {SummaryPart[]} parts
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {LinesData}
 */
export function read({ meta, arrays, shapes }) {
  /** @param {any} part */
  const partOf = (part) => ({
    ...part,
    columns: shapes[`${part.kind}.profile`][1],
    profile: arrays[`${part.kind}.profile`],
    palette: { light: arrays[`${part.kind}.light`], dark: arrays[`${part.kind}.dark`] },
  });
  return {
    ...meta,
    sentences: meta.sentences.map(
      /** @param {any[]} row */
      ([number, source, target, logP, length, unlike, sides]) =>
        ({ number, source, target, logP, length, unlike, sides })),
    parts: meta.parts.map(partOf),
  };
}

/** The heads of a part in the order in which they stand: their numbers in it.
 * @param {SummaryPart} part
 * @param {string | null} measure by which they are sorted, largest first; null for by layer
 */
export function orderOf({ heads }, measure) {
  const numbers = heads.map((_, n) => n);
  if (measure == null) return numbers;
  /** @param {number} n */
  const value = (n) => heads[n].values[measure][0];
  return numbers.sort((a, b) => value(b) - value(a) || a - b);
}

/** List the heads of all kinds with the largest values of a measure, largest first.
 * @param {LinesData} data @param {string} measure @param {number} count */
export const foremost = ({ parts }, measure, count) =>
  parts.flatMap((part) =>
    part.heads.map((head) => ({ part, head, value: head.values[measure][0] })))
    .sort((a, b) => b.value - a.value).slice(0, count);

/** Name the distance in a column of a profile. @param {number} column @param {number} reach */
export function distanceOf(column, reach) {
  const distance = column - reach - 1;
  if (distance < -reach) return `more than ${reach} before`;
  if (distance > reach) return `more than ${reach} after`;
  if (distance === 0) return "at the same position";
  return `${Math.abs(distance)} ${distance < 0 ? "before" : "after"}`;
}

/** Find the sentences that hold every typed word, in either language.
 * @param {Sentence[]} sentences @param {string} typed `#7` asks for the line alone */
export function matching(sentences, typed) {
  const line = /^\s*#(\d+)\s*$/.exec(typed);
  if (line) return sentences.filter(({ number }) => number === Number(line[1]));
  const words = folded(typed).split(/\s+/).filter(Boolean);
  return sentences.filter(({ source, target }) => {
    const text = folded(`${source}\n${target}`);
    return words.every((word) => text.includes(word));
  });
}

/** Remove accents and case. @param {string} text */
const folded = (text) =>
  text.normalize("NFKD").replace(/\p{Diacritic}/gu, "").toLowerCase();

/** @typedef {"line" | "log p" | "length" | "unlike"} SentenceOrder */

/** @type {Record<SentenceOrder, {says: string, compare: (a: Sentence, b: Sentence) => number}>} */
export const ORDERS = {
  line: { says: "as in the file", compare: (a, b) => a.number - b.number },
  "log p": {
    says: "log p, lowest first",
    compare: (a, b) => (a.logP ?? 0) - (b.logP ?? 0) || a.number - b.number,
  },
  length: {
    says: "longest first", compare: (a, b) => b.length - a.length || a.number - b.number,
  },
  unlike: {
    says: "maps differ most first", compare: (a, b) => b.unlike - a.unlike || a.number - b.number,
  },
};
