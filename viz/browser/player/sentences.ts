// What a player says: of a moment, and of what is under the pointer before it is clicked.

import { forHand, number, quote, SPECIAL } from "../core/text.ts";
import { isCrossed, linksShown, type Moment, type Ribbon } from "./marks.ts";
import { DASHED } from "../word_links/from_trace.ts";
import { percent, type PlayerData, rowBetween, strongest } from "./plan.ts";

export const titleOf = ({ layer, head }: { layer: number; head: number }) =>
  `L${layer + 1} H${head + 1}`;

const MARKS = new Map([["<s>", "start, the mark before the first word"],
  ["</s>", "end, the mark after the last word"]]);
const named = (token: string) => MARKS.get(token) ?? quote(token);

export function sentenceOf(moment: Moment): string {
  const { data, kind, head, step, all } = moment;
  const name = `${kind.name} ${titleOf(head)}`;
  if (data.training.length) return runSentence(moment, step);
  if (linksShown(moment)) {
    const areMixed = new Set(data.links.map(({ mutual }) => mutual)).size > 1;
    return `Word links: ${data.linked?.about ?? "words that go together."}`
      + (areMixed ? ` Dashed: ${DASHED}.` : "");
  }
  const gone = isCrossed(moment, head) ? `${titleOf(head)} is removed and looks at nothing.` : "";
  if (moment.removed.length) {
    return `Now the model writes ${moment.writes ? quote(moment.writes) : "nothing."}`
      + (gone && ` ${gone}`);
  }
  if (gone) return `${kind.name} ${gone}`;
  if (all) return `All words at once: where ${name} looks.`;
  const row = rowBetween(kind, head, step, 1);
  const key = strongest(row);
  const rest = data.outside ? 1 - row.reduce((sum, weight) => sum + weight, 0) : 0;
  const isRead = kind.kind === "encoder_self";
  const [token, other] = [isRead ? data.source[step] : data.written[step + 1],
    keyWord(moment, key)];
  const looked = rest > row[key] ? "what the picture leaves out"
    : token === other ? quote(other) : named(other);
  return `To ${isRead ? "read" : "write"} ${named(token)}, ${name} looks at ${looked} `
    + `(${percent(Math.max(rest, row[key]))}).`;
}

function runSentence({ data }: Pick<Moment, "data">, step: number) {
  const { number: n, written } = data.training[step];
  const steps = `${n.toLocaleString("en")} ${n === 1 ? "step" : "steps"}`;
  if (written === null) return `The heads after ${steps} of training.`;
  return `After ${steps} the model writes ${written ? quote(written) : "nothing"}`;
}

export const keyWord = ({ data, kind }: Pick<Moment, "data" | "kind">, key: number) =>
  (kind.kind === "decoder_self" ? data.written : data.source)[key];

/** Say what a player is for, before anything is pointed at. */
export function purposeOf({ data, kind, removed, crossed }: Moment) {
  if (crossed.length) {
    const here = crossed.filter((head) => head.kind === kind.kind).length;
    const others = here < crossed.length ? `; ${crossed.length - here} in the other kinds` : "";
    return `Crossed out: ${here} of ${kind.name}${others}.${removed.length ? " Ribbons and tiles "
      + "show the model without them; a step or Play gives all heads back." : ""}`;
  }
  const all = data.kinds.reduce((sum, { layers, heads }) => sum + layers * heads, 0);
  const heads = `${kind.layers * kind.heads} of the model’s ${all} heads`;
  // in one line, so that a long sentence moves nothing
  return forHand(data.outside ? `The picture leaves out ${data.outside}. Point at a head.`
    : `A head decides, for each word, which words to look at: ${heads}. Point at one.`);
}

export const ribbonHint = (moment: Moment, { query, key, weight }: Ribbon) => {
  const { kind, head, data } = moment;
  const reader = kind.kind === "encoder_self" ? data.source[query] : data.written[query + 1];
  const words = `${named(reader)} → ${named(keyWord(moment, key))}`;
  if (linksShown(moment)) return forHand(`${words}. Click: the step that writes ${named(reader)}.`);
  return forHand(`${words}, ${percent(weight)}. Click: ${data.opens
    ? "its large map" : `how ${titleOf(head)} computes this`}.`);
};

export const stepHint = ({ data, kind }: Moment, step: number) =>
  forHand(kind.kind === "encoder_self"
    ? `Click: what the head looks at from ${named(data.source[step])}.`
    : `Click: the step that writes ${named(data.written[step + 1])}.`);

/** Return the columns and rows of a table, which screen readers read. */
export function tableOf({ steps, training, written }: PlayerData): [string[], string[][]] {
  if (training.length) {
    return [["Step of the training", "What the model writes"],
      training.map((saved) => [String(saved.number), saved.written ?? ""])];
  }
  return [["Step", "Subword", "Probability", "Other subwords"],
    steps.map(({ options, taken }, n) => [String(n + 1), written[n + 1], number(options[taken].p),
      options.filter((_, index) => index !== taken)
        .map(({ label, p }) => `${SPECIAL.get(label) ?? label} ${number(p)}`).join(", ")])];
}
