// A translation, the pieces that it is made of, and what the model held probable in the place of
// each; the words that stay valid while their text is edited, for their probabilities depend on the
// text before them alone; their places on the page, and the bar under each: it runs from 0 to 1
// over the length of its word, through all lines that the word has.

import type { Box } from "../core/dom.ts";

interface Other { raw: string; label: string; p: number }

interface EditorPiece {
  raw: string; // with `▁` for a space, as Python knows it
  label: string; // as a person reads it
  start: number; // in the text, in UTF-16 units
  end: number;
  logProb: number;
  p: number;
  others: Other[]; // most probable first
}

export interface EditorWord {
  first: number; // of its pieces
  count: number; // of its pieces
  start: number; // in the text; where it is the end, the end of the sentence is meant
  end: number;
  logProb: number; // sum of its pieces'
  p: number; // product of its pieces'
  forced: boolean;
}

export interface EditorData { // the message of `encode_editor` in viz/draw/alternatives.py
  title: string;
  placeholder: string; // where there is no text
  language: string; // of the text, as HTML names it, or ""
  text: string;
  revision: number; // of the last typed text that Python has heard of
  forced: number; // how many leading pieces were forced
  byHand: boolean; // whether a person wrote the text
  constrained: boolean; // whether the search had constraints besides, such as forbidden words
  pieces: EditorPiece[];
  words: EditorWord[];
}

/** @param numbers of the word of each piece */
export function wordsOf(
  pieces: EditorPiece[], numbers: ArrayLike<number>, forced: number,
): EditorWord[] {
  const words: EditorWord[] = [];
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
 * are those of the text before. */
type CarriedWord = EditorWord & { index: number; sure: boolean };

/** Compare two texts: they differ in one stretch, between a head and a tail that they share.
 * @returns the stretch of `before`, and what stands there in `now`; no half of a letter of two
 *   units is cut off */
export function difference(
  before: string, now: string,
): { from: number; until: number; inserted: string } {
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

/** List the words left of a text after an edit; touched words are gone until the server answers. */
export function carried(words: EditorWord[], before: string, now: string): CarriedWord[] {
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

const moved = (word: CarriedWord, shift: number) =>
  ({ ...word, start: word.start + shift, end: word.end + shift, sure: false });

const isLetter = (letter = "") => /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(letter);
const isHigh = (unit = "") => unit >= "\ud800" && unit <= "\udbff";
const isLow = (unit = "") => unit >= "\udc00" && unit <= "\udfff";

interface BarPart { x: number; y: number; width: number; start: number; filled: number }

export interface PlacedWord { word: CarriedWord; boxes: Box[] }

export const BAR = { height: 4, below: 1, apart: 2 };
const END = { before: 6, width: 18 }; // the bar of the end; the style keeps room for it

/** @returns `start` is the left edge of what is filled */
export function barOf(boxes: Box[], p: number, fromRight: boolean): BarPart[] {
  const whole = boxes.reduce((sum, { left, right }) => sum + right - left, 0);
  let rest = p * whole;
  return boxes.map(({ left, right, bottom }) => {
    const filled = Math.min(rest, right - left);
    rest -= filled;
    const start = fromRight ? right - filled : left;
    return { x: left, y: bottom + BAR.below, width: right - left, start, filled };
  });
}

/** Place the end of the sentence behind the last letter, inside the line however full it is.
 * @param last an empty box at the end of the text */
export function endBox(
  { left: end, right, top, bottom }: Box, width: number, fromRight: boolean,
): Box {
  const left = fromRight
    ? Math.max(end - END.before - END.width, 0)
    : Math.min(right + END.before, width - END.width);
  return { left, top, right: left + END.width, bottom };
}

export const wordAt = (placed: PlacedWord[], x: number, y: number) => placed.find(({ boxes }) =>
  boxes.some(({ left, top, right, bottom }) => x >= left && x < right && y >= top
    && y < bottom + BAR.below + BAR.height + 2));

/** Find the word that the caret is in or at; between two, the word that it begins. */
export function wordAtCaret(placed: PlacedWord[], caret: number) {
  const holds = ({ word: { start, end } }: PlacedWord) =>
    start <= caret && caret < end;
  return placed.find(holds) ?? placed.find(({ word }) => word.end === caret)
    ?? placed.findLast(({ word }) => word.end <= caret);
}
