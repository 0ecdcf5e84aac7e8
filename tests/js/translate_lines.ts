// node --import ./tests/js/typescript.mjs tests/js/translate_lines.ts BASE int8|exact SOURCE OUT:
// translate the lines of a file with a served model, as a page does; lines that OUT has are done.

import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { Loader } from "../../viz/browser/engine/load.ts";

const [base, weights, source, out] = process.argv.slice(2);
const linesOf = (file: string) => readFileSync(file, "utf8").split("\n").slice(0, -1);
const engine = await new Loader(base, weights === "int8").load(() => {});
const done = existsSync(out) ? linesOf(out).length : 0;
for (const text of linesOf(source).slice(done)) {
  const request = { text, turn: 1, removed: [], rows: [], prefix: [] };
  let written = "";
  for (const answer of engine.translate({ type: "translate", ...request })) {
    if (answer?.type === "translated") written = answer.trace.target.text;
  }
  appendFileSync(out, `${written}\n`);
}
