// The strip over the keys: the weights of the pinned row, of the one that is pointed at, or the
// average of all. Bars are as long as the weights are, on every scale.

import { cssColor } from "../core/raster.js";
import { rect, text } from "../core/scene.js";
import { within } from "../core/text.js";
import { rowOf } from "./data.js";

/** @typedef {import("../core/scene.js").Mark} Mark */

const DIGITS = 10; // the size of the numbers over the bars, CSS pixels
const NUMBER = 14; // their room
const OWN = { light: 150, dark: 170 }; // about the kind's own colour
const SIDE = 84; // and as far off the middle of the differences' colours
const FAINT = 0.35; // bars of the average

/**
 * @param {import("./marks.js").MapScene} scene
 * @returns {Mark[]}
 */
export function barMarks({ data, plan, theme, average, origin, at, pinned, measure }) {
  const colors = data.palette[theme.name];
  const row = pinned ?? at?.row;
  const weights = row == null ? average : rowOf(data, row);
  const tallest = data.signed ? plan.bars / 2 - NUMBER - 4 : plan.bars - NUMBER - 4;
  const floor = data.signed ? plan.top - plan.bars / 2 : plan.top - 4;
  const bars = Array.from(weights, (weight, key) => {
    const level = data.signed ? 128 + Math.sign(weight) * SIDE : OWN[theme.name];
    const height = within(Math.abs(weight), 0, 1) * tallest;
    return rect({
      x: origin.x + key * plan.square + 2, y: weight < 0 ? floor + 1 : floor - height,
      width: plan.square - 4, height,
      ...(row == null ? { fill: theme.ink, opacity: FAINT } : { fill: cssColor(colors, level) }),
    });
  });
  const numbers = row == null ? []
    : numberMarks({ plan, x: origin.x, weights, floor, tallest, ink: theme.ink, measure });
  const line = rect({
    x: origin.x, y: floor, width: data.keys.length * plan.square, height: 1, fill: theme.line,
  });
  return [line, ...bars, ...numbers];
}

/**
 * Numbers over the bars, the largest first, each only where it touches no other.
 * @param {{plan: import("./plan.js").MapPlan, x: number, weights: Float32Array, floor: number,
 *   tallest: number, ink: string, measure: import("../core/theme.js").Measure}} strip
 * @returns {Mark[]}
 */
function numberMarks({ plan, x, weights, floor, tallest, ink, measure }) {
  /** @type {Record<"above" | "below", [number, number][]>} */
  const taken = { above: [], below: [] };
  /** @param {number} key */
  const size = (key) => Math.abs(weights[key]);
  const marks = [];
  for (const key of [...weights.keys()].sort((a, b) => size(b) - size(a))) {
    if (size(key) < 0.005) break;
    const less = weights[key] < 0;
    const words = (less ? "−" : "") + size(key).toFixed(2);
    const half = measure(words, DIGITS, 400) / 2 + 2;
    const middle = Math.max(x + (key + 0.5) * plan.square, x + half);
    const beside = less ? taken.below : taken.above;
    if (beside.some(([from, to]) => middle - half < to && middle + half > from)) continue;
    beside.push([middle - half, middle + half]);
    const height = Math.min(1, size(key)) * tallest;
    marks.push(text({
      text: words, x: middle, y: less ? floor + height + 2 + DIGITS : floor - height - 3,
      size: DIGITS, anchor: "middle", fill: ink,
    }));
  }
  return marks;
}
