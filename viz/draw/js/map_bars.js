// The strip over the keys: the weights of the pinned row, of the one that is pointed at, or the
// average of all. Bars are as long as the weights are, on every scale.

import { within } from "./shared.js";

const DIGITS = 10; // the size of the numbers over the bars, CSS pixels
const NUMBER = 14; // their room
const OWN = { light: 150, dark: 170 }; // about the kind's own colour
const SIDE = 84; // and as far off the middle of the differences' colours

export function bars(context, { data, plan, theme, colors, average, x, at, pinned }) {
  const row = pinned ?? at?.row;
  const weights = row == null ? average : rowOf(data, row);
  const tallest = data.signed ? plan.bars / 2 - NUMBER - 4 : plan.bars - NUMBER - 4;
  const floor = data.signed ? plan.top - plan.bars / 2 : plan.top - 4;
  context.fillStyle = theme.line;
  context.fillRect(x, floor, data.keys.length * plan.square, 1);
  context.save();
  context.globalAlpha = row == null ? 0.35 : 1;
  weights.forEach((weight, key) => {
    const n = 3 * (data.signed ? 128 + Math.sign(weight) * SIDE : OWN[theme.name]);
    context.fillStyle = row == null ? theme.ink : `rgb(${colors.slice(n, n + 3).join()})`;
    const height = within(Math.abs(weight), 0, 1) * tallest;
    const top = weight < 0 ? floor + 1 : floor - height;
    context.fillRect(x + key * plan.square + 2, top, plan.square - 4, height);
  });
  context.restore();
  if (row != null) numbers(context, { plan, theme, x, weights, floor, tallest });
}

/** Numbers over the bars, the largest first, each only where it touches no other. */
function numbers(context, { plan, theme, x, weights, floor, tallest }) {
  context.font = `400 ${DIGITS}px ${theme.font}`;
  context.fillStyle = theme.ink;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  const taken = { above: [], below: [] };
  const size = (key) => Math.abs(weights[key]);
  for (const key of [...weights.keys()].sort((a, b) => size(b) - size(a))) {
    if (size(key) < 0.005) break;
    const less = weights[key] < 0;
    const text = (less ? "−" : "") + size(key).toFixed(2);
    const half = context.measureText(text).width / 2 + 2;
    const middle = Math.max(x + (key + 0.5) * plan.square, x + half);
    const beside = less ? taken.below : taken.above;
    if (beside.some(([from, to]) => middle - half < to && middle + half > from)) continue;
    beside.push([middle - half, middle + half]);
    const height = Math.min(1, size(key)) * tallest;
    context.fillText(text, middle, less ? floor + height + 2 + DIGITS : floor - height - 3);
  }
}

export function rowOf(data, row) {
  return data.weights.subarray(row * data.keys.length, (row + 1) * data.keys.length);
}

export function averageRow(data) {
  const sums = new Float32Array(data.keys.length);
  data.weights.forEach((weight, n) => (sums[n % sums.length] += weight));
  return sums.map((sum) => sum / data.queries.length);
}
