// From a weight to its colour, and the legend.

import { paint, sized } from "./canvas.js";
import { make } from "./dom.js";
import { cssColor } from "./raster.js";
import { rect } from "./scene.js";
import { within } from "./text.js";

/** @import { Colors } from "./raster.js" */

const WIDE = 112; // of the legend's bar, CSS pixels, in steps of two
const HIGH = 10;

/** @typedef {"linear" | "square root" | "by row"} ScaleName */

/**
 * The colouring of weights.
 * @typedef {object} Scaling
 * @property {ScaleName} scale
 * @property {number} threshold weights of less are not drawn
 * @property {boolean} signed they are differences of two weights
 * @property {string} [amount] what one is, in a word
 */

/**
 * @typedef {object} Scale
 * @property {(weight: number, largest: number) => number} curve of a weight, and its row's largest
 * @property {string} most at the end of the bar
 * @property {string} says
 */

/** @type {Record<ScaleName, Scale>} */
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

/**
 * @param {Scaling & {weights: Float32Array, queries: string[], keys: string[]}} data
 * @returns {(weight: number, row: number) => number} the colour's place in the table of 256
 */
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

/**
 * Test whether causal attention hides a square (§3.2.3). A weight there would be shown.
 * @param {boolean} causal
 * @param {number} query
 * @param {number} key
 * @param {number} weight
 */
export const hidden = (causal, query, key, weight) => causal && key > query && weight === 0;

/**
 * List the parts of the legend: texts, and bars of colours.
 * @param {Scaling} scaling
 * @param {Colors} colors
 * @returns {(string | import("./save.js").Sample)[]}
 */
export function legend({ scale, threshold, signed, amount = "weight" }, colors) {
  const { most, says } = SCALES[scale];
  /** @param {number} from @param {number} to @param {number} width */
  const bar = (from, to, width) => ({
    width,
    marks: Array.from({ length: width / 2 }, (_, n) => rect({
      x: 2 * n, y: 0, width: 2, height: HIGH,
      fill: cssColor(colors, Math.round(from + ((to - from) * 2 * n) / (width - 2))),
    })),
  });
  const scaled = signed
    ? [`difference −${most}`, bar(1, 128, WIDE / 2), "0", bar(128, 255, WIDE / 2), `+${most}`]
    : [`${amount} 0`, bar(0, 255, WIDE), most];
  const drawn = threshold > 0 ? `below ${Number(threshold.toPrecision(3))} not drawn` : "";
  const more = [says, drawn].filter(Boolean).join(" · ");
  return more ? [...scaled, `\u2002${more}`] : scaled; // a little apart
}

/**
 * Make the legend as elements of a page.
 * @param {Scaling} scaling
 * @param {Colors} colors
 */
export const legendNodes = (scaling, colors) => legend(scaling, colors).map((item) => {
  if (typeof item === "string") return make("span", {}, item);
  const canvas = make("canvas", { "aria-hidden": "true" });
  paint(sized(canvas, item.width, HIGH), item.marks, ""); // no words
  return canvas;
});
