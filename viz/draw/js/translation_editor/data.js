// Message of `encode_editor` in viz/draw/alternatives.py: a translation, the pieces that it
// is made of, and what the model held probable in the place of each.

/** A piece that could have stood in a place.
 * @typedef {{raw: string, label: string, p: number}} Other */

/**
 * @typedef {object} EditorPiece
 * @property {string} raw with `▁` for a space, as Python knows it
 * @property {string} label as a person reads it
 * @property {number} start in the text, in UTF-16 units
 * @property {number} end
 * @property {number} logProb
 * @property {number} p
 * @property {Other[]} others most probable first
 *
 * @typedef {object} EditorWord
 * @property {number} first of its pieces
 * @property {number} count of its pieces
 * @property {number} start in the text; where it is the end, the end of the sentence is meant
 * @property {number} end
 * @property {number} logProb sum of its pieces'
 * @property {number} p product of its pieces'
 * @property {boolean} forced
 *
 * @typedef {object} EditorData
 * @property {string[]} [caption] what the text was made from
 * @property {string} title
 * @property {string} placeholder where there is no text
 * @property {string} language of the text, as HTML names it, or ""
 * @property {string} text
 * @property {number} revision of the last typed text that Python has heard of
 * @property {number} forced how many leading pieces were forced
 * @property {boolean} byHand whether a person wrote the text
 * @property {EditorPiece[]} pieces
 * @property {EditorWord[]} words
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {EditorData}
 */
export function read({ meta, arrays: { spans, words, logProbs } }) {
  const pieces = meta.pieces.map((/** @type {any} */ piece, /** @type {number} */ n) => ({
    ...piece, start: spans[2 * n], end: spans[2 * n + 1], logProb: logProbs[n],
    p: Math.exp(logProbs[n]),
  }));
  return { ...meta, pieces, words: wordsOf(pieces, words, meta.forced) };
}

/**
 * @param {EditorPiece[]} pieces
 * @param {ArrayLike<number>} numbers of the word of each piece
 * @param {number} forced
 * @returns {EditorWord[]}
 */
export function wordsOf(pieces, numbers, forced) {
  /** @type {EditorWord[]} */
  const words = [];
  pieces.forEach((piece, n) => {
    if (n === 0 || numbers[n] !== numbers[n - 1]) {
      words.push({
        first: n, count: 0, start: piece.start, end: piece.end, logProb: 0, p: 1, forced: false,
      });
    }
    const word = words[words.length - 1];
    // a piece that is a space alone has no place of its own
    if (word.start === word.end) word.start = piece.start;
    word.end = Math.max(word.end, piece.end);
    word.count += 1;
    word.logProb += piece.logProb;
    word.p = Math.exp(word.logProb);
    word.forced = n < forced;
  });
  return words;
}

/**
 * All pieces before one, and an alternative in its place, as Python compares them.
 * @param {{raw: string}[]} pieces
 * @param {number} index
 * @param {{raw: string}} other
 */
export const prefixWith = (pieces, index, other) =>
  pieces.slice(0, index).map(({ raw }) => raw).join("") + other.raw;
