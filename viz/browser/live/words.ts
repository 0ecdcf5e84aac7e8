// The words that differ between two translations, and the language of a text.

import { wordTexts } from "../core/labels.ts";
import type { Trace } from "../core/trace.ts";
import { textWords } from "../engine/words.ts";
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

/** List the subwords of a translation, kept or lost, and the words that another text adds, as
 * `changed_row` of viz/draw/player.py does. @param most subwords that are drawn */
export function changedRow({ target }: Trace, text: string, most: number): RowPart[] {
  const pieces = new Map<number, number[]>(); // of each word, by their number after `<s>`
  target.pieces.forEach((piece, n) => {
    const word = target.words[n];
    if (piece !== "</s>") pieces.set(word, [...pieces.get(word) ?? [], n + 1]);
  });
  let at = 0; // of the words before
  const row: RowPart[] = [{ piece: 0, lost: false }];
  for (const { text: word, change } of compared(textWords(text), wordTexts(target))) {
    if (change === "new") row.push({ text: word });
    else {
      const own = pieces.get(at++) ?? [];
      row.push(...own.map((piece) => ({ piece, lost: change === "lost" })));
    }
  }
  if (target.pieces.at(-1) === "</s>") row.push({ piece: target.pieces.length, lost: false });
  return row.filter((part) => !("piece" in part) || part.piece <= most);
}

/** Return the code of the only language whose common words a text has; "" where it is unclear. */
export function likelyLanguage(text: string, common: Record<string, string[]>): string {
  const words = new Set(text.toLowerCase().match(/\p{L}+(?:'\p{L}+)?/gu));
  const codes = Object.keys(common).filter((code) => common[code].some((word) => words.has(word)));
  return codes.length === 1 ? codes[0] : "";
}
