// Places of the words on the page, and the bar under each: it runs from 0 to 1 over
// the length of its word, through all lines that the word has.

/** @import { Box } from "../core/frame.js" */
/** @import { CarriedWord } from "./carry.js" */

/** A part of a bar: its track, and how much of it is filled.
 * @typedef {{x: number, y: number, width: number, start: number, filled: number}} BarPart */

/**
 * @typedef {object} PlacedWord
 * @property {CarriedWord} word
 * @property {Box[]} boxes one for each line that it stands in
 */

export const BAR = { height: 4, below: 1, apart: 2 };
export const END = { before: 6, width: 18 }; // the bar of the end; the style keeps room for it

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

/**
 * Find the word at a place: in its boxes, and in the bar under them.
 * @param {PlacedWord[]} placed
 * @param {number} x
 * @param {number} y
 * @returns {PlacedWord | undefined}
 */
export const wordAt = (placed, x, y) => placed.find(({ boxes }) =>
  boxes.some(({ left, top, right, bottom }) => x >= left && x < right && y >= top
    && y < bottom + BAR.below + BAR.height + 2));

/**
 * Find the word that the caret is in or at; between two, the word that it begins.
 * @param {PlacedWord[]} placed
 * @param {number} caret
 * @returns {PlacedWord | undefined}
 */
export function wordAtCaret(placed, caret) {
  const holds = (/** @type {PlacedWord} */ { word: { start, end } }) =>
    start <= caret && caret < end;
  return placed.find(holds) ?? placed.find(({ word }) => word.end === caret)
    ?? placed.findLast(({ word }) => word.end <= caret);
}
