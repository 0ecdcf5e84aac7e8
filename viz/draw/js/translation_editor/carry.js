// The words that stay valid while their text is edited: their probabilities depend on the text
// before them alone.

/** @import { EditorWord } from "./data.js" */

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

/** @param {string | undefined} letter */
const isLetter = (letter) => letter !== undefined && /[\p{L}\p{N}\p{M}\p{Cs}]/u.test(letter);

/** @param {string | undefined} unit */
const isHigh = (unit) => unit !== undefined && unit >= "\ud800" && unit <= "\udbff";

/** @param {string | undefined} unit */
const isLow = (unit) => unit !== undefined && unit >= "\udc00" && unit <= "\udfff";
