// node --import ./tests/js/typescript.mjs tests/js/from_trace.mjs FILE…: what TypeScript makes of
// traces, as JSON: for each file player and links without their weights, and where colours, grid,
// maps and ribbons differ from those that Python has encoded.

import { readFileSync } from "node:fs";
import { worded } from "../../viz/browser/core/labels.ts";
import { readTrace } from "../../viz/browser/core/trace.ts";
import { decode } from "../../viz/browser/core/wire.ts";
import { Explorer } from "../../viz/browser/explorer.ts";
import { explorerData } from "../../viz/browser/explorer_from_trace.ts";
import { playerData } from "../../viz/browser/player/from_trace.ts";
import { linkData } from "../../viz/browser/word_links/from_trace.ts";

const NOT_COMPARED = new Set(["component", "weights", "packing", "opens"]);
const NOT_WRITTEN = new Set(["weights", "palette", "whole", "size"]);

/** @type {Record<string, string>} */
let differences = {};
let numbers = 0; // that were compared

/** @param {any} ours @param {any} python @param {string} path */
function compare(ours, python, path) {
  const differ = () => {
    differences[path] = `${JSON.stringify(ours)} and ${JSON.stringify(python)}`.slice(0, 300);
  };
  if (typeof ours === "number" && typeof python === "number") {
    numbers++;
    // the largest weight of a head has two decimals in Python
    if (Math.abs(ours - python) > (path.includes("strongest") ? 0.0051 : 1e-6)) differ();
  } else if (!ours || !python || typeof ours !== "object") {
    if ((ours ?? null) !== (python ?? null)) differ();
  } else if ("length" in ours && ours.length !== python.length) differ();
  else {
    for (const name of new Set([...Object.keys(ours), ...Object.keys(python)])) {
      if (!NOT_COMPARED.has(name)) compare(ours[name], python[name], `${path}.${name}`);
    }
  }
}

const made = process.argv.slice(2).map((file) => {
  [differences, numbers] = [{}, 0];
  const { about, opened, explorer, axes, ...message } =
    decode(new Uint8Array(readFileSync(file)));
  const trace = readTrace(message.trace);
  const data = explorerData(trace, about, opened);
  compare(data, Explorer.read(explorer), "explorer");
  for (const [n, [raw, words]] of axes.entries()) {
    compare(worded(raw), { causal: raw.causal, ...words }, `axes.${n}`);
  }
  data.grid.parts.forEach(({ weights }, n) =>
    compare([...weights], [...explorer.grid.parts[n].weights], `explorer.grid.levels.${n}`));
  const player = playerData(trace, about, { breaks: true, arrival: 3 });
  return { player, links: linkData(trace, about), differences, numbers };
});
console.log(JSON.stringify(made, (name, value) => (NOT_WRITTEN.has(name) ? undefined : value)));
