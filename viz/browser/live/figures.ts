// What edits cost, in figures: log P of the translation that the whole model wrote, and the words
// that change.

import { counted } from "../core/labels.ts";
import { fixed, quote } from "../core/text.ts";
import type { Trace } from "../core/trace.ts";
import { changesText, timesOf } from "../player/break_it.ts";
import { changedWords } from "../player/changes.ts";

/** As many random heads as are removed: what log P loses without them, and the text then. */
export interface Random { logProb: number; text: string }

/** @returns figures, each with what it is of; none where nothing is edited
 *  @param original log P of what the whole model wrote, with the edits; null before it has come */
export function figuresOf(
  whole: Trace, shown: Trace, original: number | null, random: Random | null,
): [figure: string, rest: string][] {
  const { removed: { length: heads }, rows: { length: rows }, prefix } = shown.edited;
  const chosen = quote(shown.target.pieces.slice(0, prefix).join("").replaceAll("▁", " ").trim());
  if (!heads && !rows && !prefix) return [];
  const words = changesText(changedWords(whole.target, shown.target));
  const before = sum(whole);
  const change = (after: number) => `log P ${fixed(before, 2)} → ${fixed(after, 2)}: `;
  if (!heads && !rows) {
    return [[change(sum(shown)), `this one, which begins ${chosen} as you chose; ${words}.`]];
  }
  const edits = [
    ...(heads ? [`without ${heads === 1 ? "this head" : `these ${heads} heads`}`] : []),
    ...(rows ? [`with ${counted(rows, "painted row")}`] : []),
  ].join(" and ");
  const times = original === null ? "" : `, ${timesOf(before - original).toLowerCase()}`;
  const figures: [string, string][] = [[
    original === null ? `log P ${fixed(before, 2)} → …: ` : change(original),
    `the original translation ${edits}${times}${prefix ? "" : `; ${words}`}.`,
  ]];
  if (prefix) {
    figures.push([change(sum(shown)),
      `this one, which begins ${chosen} as you chose; ${words}.`]);
  }
  if (random && heads && !rows) {
    const isSame = random.text === whole.target.text;
    figures.push([change(before + random.logProb), `without ${counted(heads, "random head")} `
      + `instead; ${isSame ? "no word changes" : "words change, too"}.`]);
  }
  return figures;
}

const sum = ({ logProbs }: Trace) => logProbs.reduce((total, logProb) => total + logProb, 0);
