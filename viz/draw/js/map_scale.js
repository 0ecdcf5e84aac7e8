// From a weight to its colour, and the legend that says how. Numbers never come this way.

import { within } from "./shared.js";

const WIDE = 112; // of the legend's bar, CSS pixels, in steps of two
const HIGH = 10;

const SCALES = {
  linear: { curve: (weight) => weight, most: "1", says: "" },
  "square root": {
    curve: (weight) => Math.sign(weight) * Math.sqrt(Math.abs(weight)), most: "1", says: "√ scale",
  },
  "by row": {
    curve: (weight, largest) => (largest ? weight / largest : 0),
    most: "max", says: "each row by its largest",
  },
};

/** Of a map's data, a function from (weight, row) to the colour's place in the table of 256. */
export function leveller({ weights, queries, keys, scale, signed }) {
  const { curve } = SCALES[scale];
  const largest = new Float32Array(queries.length);
  weights.forEach((weight, n) => {
    const row = Math.floor(n / keys.length);
    largest[row] = Math.max(largest[row], Math.abs(weight));
  });
  return (weight, row) => {
    const amount = within(curve(weight, largest[row]), -1, 1);
    return signed ? 128 + Math.round(127 * amount) : Math.round(255 * Math.max(0, amount));
  };
}

/** What the legend says: texts, and bars that draw themselves at 0, 0. */
export function legend({ scale, threshold, signed }, colors) {
  const { most, says } = SCALES[scale];
  const bar = (from, to, width) => ({ width, height: HIGH, draw: (context) => {
    for (let x = 0; x < width; x += 2) {
      const n = 3 * Math.round(from + ((to - from) * x) / (width - 2));
      context.fillStyle = `rgb(${colors.slice(n, n + 3).join()})`;
      context.fillRect(x, 0, 2, HIGH);
    }
  } });
  const scaled = signed
    ? [`difference −${most}`, bar(1, 128, WIDE / 2), "0", bar(128, 255, WIDE / 2), `+${most}`]
    : ["weight 0", bar(0, 255, WIDE), most];
  const drawn = threshold > 0 ? `below ${Number(threshold.toPrecision(3))} not drawn` : "";
  const more = [says, drawn].filter(Boolean).join(" · ");
  return more ? [...scaled, `\u2002${more}`] : scaled; // a little apart
}
