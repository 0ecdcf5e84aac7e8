// The words that differ between two translations.

import { wordTexts } from "../core/labels.ts";
import type { Side } from "../core/trace.ts";
import type { RowPart } from "./plan.ts";

export interface Word { text: string; change: "same" | "moved" | "new" | "lost" }

type Block = [word: number, before: number, size: number];

/** Compare two lists of words as Python's difflib does: the longest run of words that both have is
 * the same, then that on each side of it, and so on. Of runs as long, the first counts. A word that
 * one place lost and another one got has moved: it stands where it is now. */
export function compared(words: string[], before: string[]): (Word & { index: number })[] {
  const parts: (Word & { index: number })[] = []; // a lost word by its index in `before`
  const add = (change: Word["change"], list: string[], from: number, to: number) => {
    for (let index = from; index < to; index++) parts.push({ text: list[index], change, index });
  };
  const compare = (from: number, to: number, first: number, last: number) => {
    const [word, old, size] = longestRun(words, before, [from, to], [first, last]);
    if (!size) {
      add("lost", before, first, last);
      add("new", words, from, to);
      return;
    }
    compare(from, word, first, old);
    add("same", words, word, word + size);
    compare(word + size, to, old + size, last);
  };
  compare(0, words.length, 0, before.length);
  const lost = parts.filter(({ change }) => change === "lost").map(({ text }) => text);
  const come = parts.filter(({ change, text }) => change === "new" && take(lost, text))
    .map(({ text }) => text);
  const gone = [...come];
  return parts.flatMap((part) => {
    const { text, change } = part;
    if (change === "new" && take(come, text)) return [{ ...part, change: "moved" }];
    return change === "lost" && take(gone, text) ? [] : [part];
  });
}

/** Take a text out of a list. @returns whether it was there */
function take(texts: string[], text: string) {
  const at = texts.indexOf(text);
  if (at >= 0) texts.splice(at, 1);
  return at >= 0;
}

function longestRun(
  words: string[], before: string[], [from, to]: number[], [first, last]: number[],
): Block {
  let best: Block = [from, first, 0];
  let lengths = new Map<number, number>(); // of runs that end at a word of the other list
  for (let old = first; old < last; old++) {
    const longer = new Map<number, number>();
    for (let word = from; word < to; word++) {
      if (words[word] !== before[old]) continue;
      const size = (lengths.get(word - 1) ?? 0) + 1;
      longer.set(word, size);
      if (size > best[2]) best = [word - size + 1, old - size + 1, size];
    }
    lengths = longer;
  }
  return best;
}

/** List the subwords of a new translation, and the words of the old one that it lost.
 * @param most subwords that are drawn */
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

/** Words by which two translations differ. */
export type Changes = Record<"lost" | "new" | "moved", number>;

/** Count them, punctuation aside, and test whether they are plain, as `changes_plainly` of
 * viz/draw/player.py does. */
export function changedWords(before: Side, after: Side): Changes & { plain: boolean } {
  const [old, now] = [before, after].map((side) =>
    wordTexts(side).filter((word) => /[\p{L}\p{N}]/u.test(word)));
  const changes: Changes = { lost: 0, new: 0, moved: 0 };
  for (const { change } of compared(now, old)) if (change !== "same") changes[change]++;
  const most = Math.max(changes.lost, changes.new);
  return { ...changes, plain: most >= Math.max(1, PLAIN * old.length) };
}
