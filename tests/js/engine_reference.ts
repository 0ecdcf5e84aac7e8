// node --import ./tests/js/typescript.mjs tests/js/engine_reference.ts FILE: run the engine on what
// Python ran, and print what differs and the largest differences, as JSON.

import { readFileSync } from "node:fs";
import { decode } from "../../viz/browser/core/wire.ts";
import type { Answer } from "../../viz/browser/engine/messages.ts";
import { Edits } from "../../viz/browser/engine/edits.ts";
import { ForcedPass } from "../../viz/browser/engine/order.ts";
import { withSingleSpaces, numberWords } from "../../viz/browser/engine/words.ts";
import { engineOf, readCheckpoint } from "./engine_folder.ts";

const { folder, cases = [], orders = [], lines = [], plain = false } = decode(
  readFileSync(process.argv[2]),
);
const engine: any = await engineOf(readCheckpoint(folder), plain); // its tokenizers are private
const differing: string[] = [];
const worst: Record<string, number> = {};
const milliseconds: number[] = [];

function last(steps: Iterable<Answer | null>, type: Answer["type"]): any {
  return [...steps].filter((answer) => answer?.type === type).at(-1);
}

function isSame(name: string, here: unknown, there: unknown, note = () => ""): boolean {
  if (JSON.stringify(here) === JSON.stringify(there)) return true;
  differing.push(`${name}: ${JSON.stringify(here)} and not ${JSON.stringify(there)}${note()}`);
  return false;
}

function compare(name: string, here: ArrayLike<number>, there: ArrayLike<number>) {
  if (here.length !== there.length) differing.push(`${name}: ${here.length} of ${there.length}`);
  for (let n = 0; n < there.length; n++) {
    const apart = Math.abs(here[n] - there[n]);
    if (!(apart <= (worst[name] ?? 0))) worst[name] = apart;
  }
}

/** The difference of the scores of two translations: tiny where both are as good. */
function scoreApart(expected: any, ids: number[]): string {
  const score = (written: number[]) => {
    const { logP } = new ForcedPass(engine.model, expected.source.ids, written,
      Edits.without([]));
    return logP / ((5 + written.length) / 6) ** 0.6;
  };
  return `; their scores differ by ${Math.abs(score(expected.target.ids) - score(ids))}`;
}

for (const expected of cases) {
  const { request, source, target } = expected;
  const started = performance.now();
  const answer = last(engine.translate({ type: "translate", turn: 1, ...request }), "translated");
  milliseconds.push(performance.now() - started);
  const { trace } = answer;
  const name = `${request.text} ${JSON.stringify([request.removed, request.prefix])}`;
  isSame(`${name} source`, trace.source.pieces, source.pieces);
  isSame(`${name} source words`, trace.source.words, source.words);
  const ids = trace.target.pieces.map((piece: string) => engine.target.idOf(piece));
  const isEdited = request.removed.length || request.rows.length;
  const apart = () => (isEdited ? "" : scoreApart(expected, ids));
  if (!isSame(`${name} target`, ids, target.ids, apart)) continue;
  isSame(`${name} target pieces`, trace.target.pieces, target.pieces);
  isSame(`${name} target text`, trace.target.text, target.text);
  isSame(`${name} target words`, trace.target.words, target.words);
  isSame(`${name} beginnings`, trace.beginnings, expected.beginnings);
  compare("logProbs", trace.logProbs, expected.logProbs);
  trace.options.forEach((options: any, n: number) => {
    compare("options", options.p, expected.options[n].p);
    isSame(`${name} options`, options.pieces, expected.options[n].pieces);
    isSame(`${name} taken`, options.taken, expected.options[n].taken);
  });
  for (const { kind, weights } of trace.kinds) {
    if (expected.weights) compare(kind, weights, expected.weights[kind]);
  }
}
for (const { text, heads, logProbs, last: written } of orders) {
  const length = heads.length;
  const answer = last(engine.order({ type: "order", turn: 1, text, length, seed: 1 }), "ordered");
  isSame(`${text} order`, answer.heads.map(({ place }: any) => place), heads);
  compare("order", answer.heads.map(({ logProb }: any) => logProb), logProbs);
  const ask = (removed: unknown[]) => [...engine.translate({
    type: "translate", turn: 2, text, removed, rows: [], prefix: [],
  })] as any[];
  const without = ask(heads);
  const [whole, { trace }] = [ask([]), without].map((answers) => last(answers, "translated"));
  isSame(`${text} without them`, trace.target.text, written);
  const before = whole.trace.logProbs.reduce((sum: number, value: number) => sum + value, 0);
  compare("order", [last(without, "original").logProb - before], [logProbs[length - 1]]);
}
let wordsApart = 0;
for (const { text, ids, pieces, words } of lines) {
  const tokens = engine.source.encode(withSingleSpaces(text));
  const typed = tokens.map((token: any) => token.text.replaceAll("▁", " "));
  isSame(text, tokens.map(({ id }: any) => id), ids);
  isSame(text, tokens.map((token: any) => token.text), pieces);
  if (String(numberWords(typed)) !== String(words)) wordsApart++;
}
console.log(JSON.stringify({ differing, worst, milliseconds, wordsApart }));
