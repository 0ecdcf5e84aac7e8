// node --import ./tests/js/typescript.mjs tests/js/from_trace.mjs FILE…: where the pictures that
// TypeScript makes of a trace differ from those that Python has encoded, as JSON. A file has about,
// trace and Python's messages.

import { readFileSync } from "node:fs";
import { readTrace } from "../../viz/browser/core/trace.ts";
import { paletteOf } from "../../viz/browser/core/palette.ts";
import { decode } from "../../viz/browser/core/wire.ts";
import { explorerData } from "../../viz/browser/explorer_from_trace.ts";
import { playerData } from "../../viz/browser/player/from_trace.ts";
import { linkData } from "../../viz/browser/word_links/from_trace.ts";

const NOT_COMPARED = new Set(["component", "weights", "packing", "ribbonNote", "opens"]);

/** @type {Record<string, string>} */
const differences = {};
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

for (const file of process.argv.slice(2)) {
  const { about, opened, player, links, explorer, difference, ...rest } =
    decode(new Uint8Array(readFileSync(file)));
  const trace = readTrace(rest.trace);
  const made = playerData(trace, about, { breaks: true, arrival: 3 });
  const [whole, levels] = [made.kinds, player.kinds];
  made.kinds = player.kinds = [];
  delete made.crossed; // what Python draws lacks no head
  compare(made, player, "player");
  whole.forEach(({ weights, largest, whole: [, keys], ...part }, n) => {
    const { weights: steps, largest: most } = levels[n];
    compare({ ...part, largest: most, whole: levels[n].whole }, levels[n], `player.kinds.${n}`);
    const [rows, columns] = part.size;
    const size = weights.length / (part.layers * part.heads);
    steps.forEach((/** @type {number} */ level, /** @type {number} */ at) => {
      const [map, cell] = [Math.floor(at / (rows * columns)), at % (rows * columns)];
      const weight = weights[map * size + Math.floor(cell / columns) * keys + cell % columns];
      numbers++;
      if (Math.abs(weight / largest - level / most) > 0.51 / most) {
        differences[`player.weights.${n}`] = `${weight} and ${level / most}`;
      }
    });
  });
  compare(linkData(trace, about), links, "links");
  compare(paletteOf(null), difference, "difference");
  const data = explorerData(trace, about, opened);
  compare(data, explorer, "explorer");
  data.grid.parts.forEach(({ weights }, n) =>
    compare([...weights], [...explorer.grid.parts[n].weights], `explorer.grid.levels.${n}`));
}
console.log(JSON.stringify({ numbers, differences }));
