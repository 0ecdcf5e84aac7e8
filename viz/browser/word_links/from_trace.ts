// The links between the words of a sentence and of its translation, read from a map of
// cross-attention as transformer/analysis/alignment.py does, and their picture.

import {
  captionOf, headName, isRemoved, KIND_TITLES, languagesOf, wordTexts,
} from "../core/labels.ts";
import { COLOR } from "../core/palette.ts";
import type { About, Alignment, Side, Trace, WordLink } from "../core/trace.ts";
import type { LinkData } from "./plan.ts";

const NO_WORD = -1;

const numbersOf = ({ pieces, words }: Side) =>
  pieces.map((piece, n) => (piece === "</s>" ? NO_WORD : words[n]));

const indexOfMost = (values: number[]) =>
  values.reduce((best, value, n) => (value > values[best] ? n : best), 0);

/** Link each word of the translation to the source word of its largest share. A link is mutual
 * where that holds both ways, and none is while the head that makes them is removed. */
export function wordLinks(trace: Trace, { alignment }: About): WordLink[] {
  if (trace.links) return trace.links;
  if (alignment?.lens !== "weights") return [];
  const shares = wordShares(trace, alignment);
  if (!shares.length || !shares[0].length) return [];
  const partners = shares[0].map((_, word) => indexOfMost(shares.map((row) => row[word])));
  const isGone = isUnlinked(trace, alignment);
  return shares.flatMap((row, target) => {
    const source = indexOfMost(row);
    const mutual = partners[source] === target && !isGone;
    return row[source] > 0 ? [{ source, target, strength: row[source], mutual }] : [];
  });
}

/** Sum over a source word's pieces, average over a written word's: `[target word][source word]`. */
function wordShares(trace: Trace, { layer, head, row: which }: Alignment): number[][] {
  const cross = trace.kinds.find(({ kind }) => kind === "cross");
  if (!cross) return [];
  const [source, target] = [numbersOf(trace.source), numbersOf(trace.target)];
  const [wide, high] = [source, target].map((words) => Math.max(NO_WORD, ...words) + 1);
  const sums = Array.from({ length: high }, () => Array<number>(wide).fill(0));
  const counts = Array<number>(high).fill(0);
  const heads = head === null ? [...Array(cross.heads).keys()] : [head];
  const later = which === "reads" ? 1 : 0; // a row reads the piece before the one that it writes
  target.slice(0, target.length - later).forEach((word, n) => {
    if (word === NO_WORD) return;
    counts[word]++;
    for (const number of heads) {
      const map = layer * cross.heads + number;
      const from = (map * target.length + n + later) * source.length;
      source.forEach((key, at) => {
        if (key !== NO_WORD) sums[word][key] += cross.weights[from + at];
      });
    }
  });
  return sums.map((row, word) => row.map((sum) => sum / heads.length / Math.max(1, counts[word])));
}

/** Test whether the head is removed whose map makes the links. */
const isUnlinked = (trace: Trace, { layer, head }: Alignment) =>
  head !== null && isRemoved(trace, ["cross", layer, head]);

/** Name the map that makes the links, with its lens unless these are the weights. */
export function mapText({ layer, head, lens }: Alignment) {
  const place = head === null ? `all cross-attention heads of layer ${layer + 1}`
    : `cross-attention ${headName(layer, head)}`;
  return lens === "weights" ? place : `${place} (lens: ${lens})`;
}

/** Say in a sentence what makes the links, and how many are not those that people draw. */
export function linkSummary(trace: Trace, alignment: Alignment) {
  const { error } = alignment;
  const map = mapText(alignment);
  if (isUnlinked(trace, alignment)) {
    return `${map}, which makes them, is removed; dashed, they show where it would look.`;
  }
  return error === null ? `${map} links the words.`
    : `${map} links the words; ${Math.round(100 * error)} % of its links differ from people’s.`;
}

/** What the page chooses; what is left out is read from the trace. */
export interface LinkChoices {
  links?: WordLink[];
  title?: string;
  madeBy?: string; // the map of the links, in a line
  dashed?: string; // what a link is that is not mutual
  shares?: LinkData["shares"];
  parts?: string[]; // of the caption
}

export const DASHED = "a weaker, one-sided match";

export function linkData(
  trace: Trace, about: About, choices: LinkChoices = {},
): LinkData & { caption: string[] } {
  const { alignment } = about;
  const { links = wordLinks(trace, about), shares = null, title } = choices;
  const { dashed, madeBy, parts } = { ...alignment && byMap(trace, alignment), ...choices };
  const words = links.every(({ mutual }) => mutual) ? "" : `Dashed: ${dashed || DASHED}. `;
  return {
    title: title ?? "Which words belong together", madeBy: madeBy ?? "",
    note: `The wider a link, the stronger. ${words}Point at a word for its numbers; a click keeps `
      + "them.",
    color: COLOR.cross, source: wordTexts(trace.source), target: wordTexts(trace.target),
    languages: languagesOf(about), links, shares, caption: captionOf(trace, about, ...parts ?? []),
  };
}

function byMap(trace: Trace, alignment: Alignment) {
  const { layer, head, lens } = alignment;
  const which = [KIND_TITLES.cross, `layer ${layer + 1}`,
    head === null ? "mean of its heads" : `head ${head + 1}`, `lens: ${lens}.`];
  const isGone = isUnlinked(trace, alignment);
  return {
    madeBy: mapText(alignment), parts: [which.join(", ")],
    dashed: isGone ? `${mapText(alignment)}, which makes the links, is removed` : DASHED,
  };
}
