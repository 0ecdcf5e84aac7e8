// The words that differ between two translations, and the language of a text.

import type { Trace } from "../core/trace.ts";
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

const PUNCTUATION = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/** Cut a text into words, with the marks around a word apart from it. */
export const wordsOf = (text: string) => text.split(/\s+/).flatMap((part) => {
  const [core] = [part.replace(PUNCTUATION, "")];
  if (!core) return part ? [part] : [];
  const start = part.indexOf(core);
  return [part.slice(0, start), core, part.slice(start + core.length)].filter(Boolean);
});

/** List the subwords of a translation, kept or lost, and the words that another text adds, as
 * `changed_row` of viz/draw/player.py does. @param most subwords that are drawn */
export function changedRow({ target }: Trace, text: string, most: number): RowPart[] {
  const pieces = new Map<number, number[]>(); // of each word, by their number after `<s>`
  target.pieces.forEach((piece, n) => {
    const word = target.words[n];
    if (piece !== "</s>") pieces.set(word, [...pieces.get(word) ?? [], n + 1]);
  });
  const numbers = [...pieces.keys()];
  const before = numbers.map((word) => (pieces.get(word) as number[])
    .map((n) => target.pieces[n - 1]).join("").replaceAll("▁", " ").trim());
  const now = wordsOf(text);
  let at = 0; // in `before`
  const row: RowPart[] = [{ piece: 0, lost: false }];
  for (const { text: word, change } of compared(now, before)) {
    if (change === "new") row.push({ text: word });
    else {
      const own = pieces.get(numbers[at++]) as number[];
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
