// The words that differ between two translations, and the language of a text.

import { wordTexts } from "../core/labels.ts";
import type { Side } from "../core/trace.ts";
import type { RowPart } from "../player/plan.ts";

export interface Word { text: string; change: "same" | "new" | "lost" }

/** Compare two lists of words: what both have in the same order is the same in both. */
export function compared(words: string[], before: string[]): (Word & { index: number })[] {
  const longest = Array.from({ length: words.length + 1 }, () =>
    new Array<number>(before.length + 1).fill(0));
  for (let n = words.length - 1; n >= 0; n--) {
    for (let m = before.length - 1; m >= 0; m--) {
      longest[n][m] = words[n] === before[m] ? longest[n + 1][m + 1] + 1
        : Math.max(longest[n + 1][m], longest[n][m + 1]);
    }
  }
  const parts: (Word & { index: number })[] = []; // a lost word by its index in `before`
  let [n, m] = [0, 0];
  while (n < words.length || m < before.length) {
    if (n < words.length && m < before.length && words[n] === before[m]) {
      parts.push({ text: words[n], change: "same", index: n++ });
      m++;
    } else if (n === words.length
      || (m < before.length && longest[n][m + 1] >= longest[n + 1][m])) {
      parts.push({ text: before[m], change: "lost", index: m++ });
    } else parts.push({ text: words[n], change: "new", index: n++ });
  }
  return parts;
}

/** List the subwords of a new translation, and the words of the old one that it lost, as
 * `changed_row` of viz/draw/player.py does. @param most subwords that are drawn */
export function changedRow(before: Side, after: Side, most: number): RowPart[] {
  const ofWords = new Map<number, number[]>(); // their number after `<s>`
  const ends: RowPart[] = [];
  after.pieces.forEach((text, n) => {
    const word = after.words[n];
    if (text === "</s>") ends.push({ piece: n + 1, new: false });
    else ofWords.set(word, [...ofWords.get(word) ?? [], n + 1]);
  });
  const pieces = [...ofWords.values()];
  const parts = compared(wordTexts(after), wordTexts(before)).flatMap(
    ({ text, change, index }): RowPart[] => (change === "lost" ? [{ text }]
      : pieces[index].map((piece) => ({ piece, new: change === "new" }))),
  );
  return [{ piece: 0, new: false }, ...parts, ...ends]
    .filter((part) => !("piece" in part) || part.piece <= most);
}

const PLAIN = 0.2; // share of the words from which a change is seen at once

/** Count the words by which two translations differ, punctuation aside, as `changed_words` does. */
export function changedWords(before: Side, after: Side) {
  const [old, now] = [before, after].map((side) =>
    wordTexts(side).filter((word) => /[\p{L}\p{N}]/u.test(word)));
  const same = compared(now, old).filter(({ change }) => change === "same").length;
  const [lost, added] = [old.length - same, now.length - same];
  return { lost, new: added, plain: Math.max(lost, added) >= Math.max(1, PLAIN * old.length) };
}

/** Return the code of the only language whose common words a text has; "" where it is unclear. */
export function likelyLanguage(text: string, common: Record<string, string[]>): string {
  const words = new Set(text.toLowerCase().match(/\p{L}+(?:'\p{L}+)?/gu));
  const codes = Object.keys(common).filter((code) => common[code].some((word) => words.has(word)));
  return codes.length === 1 ? codes[0] : "";
}
