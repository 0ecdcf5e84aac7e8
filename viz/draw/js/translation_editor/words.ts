// A translation, the pieces that it is made of, and what the model held probable in the place of
// each; the words that stay valid while their text is edited, for their probabilities depend on the
// text before them alone; their places on the page, and the bar under each: it runs from 0 to 1
// over the length of its word, through all lines that the word has.

/** @import { Box } from "../core/dom.ts" */

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
 * @typedef {object} EditorData the message of `encode_editor` in viz/draw/translation_editor.py
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

/** A word at its place in the text as it stands now. Not `sure` is one behind a change: its numbers
 * are those of the text before.
 * @typedef {EditorWord & {index: number, sure: boolean}} CarriedWord */

/**
 * Compare two texts: they differ in one stretch, between a head and a tail that they share.
 * @param {string} before
 * @param {string} now
 * @returns {{from: number, until: number, inserted: string}} the stretch of `before`, and what
 *   stands there in `now`; no half of a letter of two units is cut off
 */
export function difference(before, now) {
  const most = Math.min(before.length, now.length);
  let from = 0;
  while (from < most && before[from] === now[from]) from++;
  if (isHigh(before[from - 1])) from--;
  let tail = 0;
  while (tail < most - from && before[before.length - 1 - tail] === now[now.length - 1 - tail]) {
    tail++;
  }
  if (isLow(before[before.length - tail])) tail--;
  return { from, until: before.length - tail, inserted: now.slice(from, now.length - tail) };
}

/**
 * List the words left of a text after an edit; touched words are gone until the server answers.
 * @param {EditorWord[]} words of `before`
 * @param {string} before
 * @param {string} now
 * @returns {CarriedWord[]}
 */
export function carried(words, before, now) {
  const numbered = words.map((word, index) => ({ ...word, index, sure: true }));
  if (before === now) return numbered;
  const { from, until } = difference(before, now);
  const shift = now.length - before.length;
  return numbered.flatMap((word) => {
    // the end of the sentence goes along with the end of the text
    if (word.start === word.end) return [moved(word, shift)];
    const grows = word.end === from && isLetter(now[from]);
    if (word.end <= from) return grows ? [] : [word];
    const begins = word.start === until && isLetter(now[until + shift - 1]);
    return word.start >= until && !begins ? [moved(word, shift)] : [];
  });
}

/** @param {CarriedWord} word @param {number} shift */
const moved = (word, shift) =>
  ({ ...word, start: word.start + shift, end: word.end + shift, sure: false });

/** @param {string} [letter] */
const isLetter = (letter = "") => /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(letter);

/** @param {string} [unit] */
const isHigh = (unit = "") => unit >= "\ud800" && unit <= "\udbff";

/** @param {string} [unit] */
const isLow = (unit = "") => unit >= "\udc00" && unit <= "\udfff";

/** A part of a bar: its track, and how much of it is filled.
 * @typedef {{x: number, y: number, width: number, start: number, filled: number}} BarPart */

/** A word with a box for each line that it stands in.
 * @typedef {{word: CarriedWord, boxes: Box[]}} PlacedWord */

export const BAR = { height: 4, below: 1, apart: 2 };
const END = { before: 6, width: 18 }; // the bar of the end; the style keeps room for it

/**
 * @param {Box[]} boxes
 * @param {number} p
 * @param {boolean} fromRight whether the text runs from right to left
 * @returns {BarPart[]} `start` is the left edge of what is filled
 */
export function barOf(boxes, p, fromRight) {
  const whole = boxes.reduce((sum, { left, right }) => sum + right - left, 0);
  let rest = p * whole;
  return boxes.map(({ left, right, bottom }) => {
    const filled = Math.min(rest, right - left);
    rest -= filled;
    const start = fromRight ? right - filled : left;
    return { x: left, y: bottom + BAR.below, width: right - left, start, filled };
  });
}

/**
 * Place the end of the sentence behind the last letter, inside the line however full it is.
 * @param {Box} last an empty box at the end of the text
 * @param {number} width of the frame
 * @param {boolean} fromRight whether the text runs from right to left
 * @returns {Box}
 */
export function endBox({ left: end, right, top, bottom }, width, fromRight) {
  const left = fromRight
    ? Math.max(end - END.before - END.width, 0)
    : Math.min(right + END.before, width - END.width);
  return { left, top, right: left + END.width, bottom };
}

/** Find the word at a place: in its boxes, and in the bar under them.
 * @param {PlacedWord[]} placed @param {number} x @param {number} y */
export const wordAt = (placed, x, y) => placed.find(({ boxes }) =>
  boxes.some(({ left, top, right, bottom }) => x >= left && x < right && y >= top
    && y < bottom + BAR.below + BAR.height + 2));

/** Find the word that the caret is in or at; between two, the word that it begins.
 * @param {PlacedWord[]} placed @param {number} caret */
export function wordAtCaret(placed, caret) {
  const holds = (/** @type {PlacedWord} */ { word: { start, end } }) =>
    start <= caret && caret < end;
  return placed.find(holds) ?? placed.find(({ word }) => word.end === caret)
    ?? placed.findLast(({ word }) => word.end <= caret);
}
