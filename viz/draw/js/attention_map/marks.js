// The large map as marks, made afresh at each change: a few hundred words and one scaled picture
// take about a millisecond, so there is no second layer that could disagree with the first.

import { EDGE } from "../core/picture_view.js";
import { cssColor, rasterOf } from "../core/raster.js";
import { hidden, leveller } from "../core/scale.js";
import { clipped, picture, rect, text } from "../core/scene.js";
import { isolate, within } from "../core/text.js";
import { rowOf } from "./data.js";
import { AVERAGE, LONGEST } from "./plan.js";

/** @import { Mark } from "../core/scene.js" */
/** @import { Measure } from "../core/theme.js" */
/** @import { MapData, Stroke } from "./data.js" */
/** @import { MapAt, MapPlan } from "./plan.js" */

/**
 * @typedef {object} MapScene
 * @property {MapData} data
 * @property {MapPlan} plan
 * @property {import("../core/theme.js").Theme} theme
 * @property {Measure} measure
 * @property {import("../core/raster.js").Raster} raster what `mapRaster` gives
 * @property {Float32Array} average row
 * @property {MapAt | null} at the pointer or the cursor
 * @property {number | null} pinned row
 * @property {Stroke | null} [stroke] what is being painted
 * @property {{x: number, y: number, edge: number}} origin what `originOf` gives
 * @property {number} width of the frame
 * @property {number} height
 */

/**
 * The weights as one pixel a square; what the future hides, and what is less than the threshold,
 * stays transparent.
 * @param {MapData} data
 * @param {import("../core/raster.js").Colors} colors
 */
export function mapRaster(data, colors) {
  const { causal, weights, queries, keys, threshold } = data;
  const level = leveller(data);
  return rasterOf(keys.length, queries.length, colors, (n) => {
    const row = Math.floor(n / keys.length);
    const unseen = hidden(causal, row, n % keys.length, weights[n]);
    return unseen || Math.abs(weights[n]) < threshold ? -1 : level(weights[n], row);
  });
}

/**
 * @param {MapScene} scene
 * @returns {Mark[]}
 */
export function mapMarks(scene) {
  const { data, plan, origin: { edge }, width, height, at, pinned } = scene;
  const row = pinned ?? at?.row;
  const name = row == null ? AVERAGE : isolate(data.queries[row]);
  const middle = plan.top - (data.signed ? plan.bars / 2 : 11);
  return [
    clipped([edge, plan.top, width, height], squares(scene)),
    clipped([0, plan.top, width, height], rowWords(scene)),
    clipped([edge, 0, width, plan.head], columnWords(scene)),
    clipped([edge, plan.head, width, plan.bars], barMarks(scene)),
    clipped([0, plan.head, edge, plan.bars], [rowWord(scene, name, middle, row != null)]),
    clipped([0, plan.top - 1, width, height], pointed(scene)),
  ];
}

/** Draw the squares in the frame: a map of 512 words has a quarter of a million.
 * @param {MapScene} scene @returns {Mark[]} */
function squares({ data, plan, theme, raster, origin: { x, y, edge }, width, height }) {
  const { square, top } = plan;
  const [left, right] = seen(x, edge, width, square, data.keys.length);
  const [first, last] = seen(y, top, height, square, data.queries.length);
  const [wide, high] = [right - left, last - first];
  if (wide <= 0 || high <= 0) return [];
  const [from, down] = [x + left * square, y + first * square];
  const fill = theme.paper; // a hair of paper between the squares
  return [
    picture({
      raster, part: [left, first, wide, high], x: from, y: down,
      width: wide * square, height: high * square,
    }),
    ...Array.from({ length: wide + 1 }, (_, key) => rect(
      { x: from + key * square - 0.5, y: down, width: 1, height: high * square, fill })),
    ...Array.from({ length: high + 1 }, (_, row) => rect(
      { x: from, y: down + row * square - 0.5, width: wide * square, height: 1, fill })),
  ];
}

/**
 * Find the squares between two edges of the frame: the first, and the first past the end.
 * @param {number} origin
 * @param {number} start
 * @param {number} end
 * @param {number} square
 * @param {number} count
 */
const seen = (origin, start, end, square, count) => [
  Math.max(0, Math.floor((start - origin) / square)),
  Math.min(count, Math.ceil((end - origin) / square)),
];

/** @param {MapScene} scene @returns {Mark[]} */
function rowWords(scene) {
  const { data, plan, origin: { y }, at, pinned } = scene;
  return data.queries.flatMap((token, row) => {
    const middle = y + (row + 0.5) * plan.square;
    if (middle < plan.top - plan.square || middle > scene.height + plan.square) return [];
    return [rowWord(scene, isolate(token), middle, row === at?.row || row === pinned)];
  });
}

/**
 * @param {MapScene} scene
 * @param {string} word
 * @param {number} middle
 * @param {boolean} strong
 */
const rowWord = ({ plan, theme, origin }, word, middle, strong) => text({
  text: word, x: origin.edge - EDGE, y: middle + 0.5, size: plan.font, weight: strong ? 600 : 400,
  anchor: "end", middle: true, fill: theme.ink,
});

/** @param {MapScene} scene @returns {Mark[]} */
function columnWords({ data, plan, theme, origin: { x, edge }, width, at }) {
  return data.keys.flatMap((token, key) => {
    const middle = x + (key + 0.5) * plan.square;
    if (middle < edge || middle > width + plan.square) return [];
    return [text({
      text: isolate(token), x: middle, y: plan.head - 4, size: plan.font,
      weight: key === at?.key ? 600 : 400, fill: theme.ink, angle: -plan.angle,
      anchor: plan.angle ? "start" : "middle", middle: Boolean(plan.angle), room: LONGEST,
    })];
  });
}

/** Mark the row and column under the pointer, their square, and the pinned row.
 * @param {MapScene} scene @returns {Mark[]} */
function pointed(scene) {
  const { data, plan, theme, at, pinned, stroke, origin: { x, y, edge }, width, height } = scene;
  const { square, top } = plan;
  const { ink } = theme;
  const right = Math.min(width, x + data.keys.length * square);
  const bottom = Math.min(height, y + data.queries.length * square);
  /** @type {Mark[]} */
  const marks = [];
  const middle = y + ((pinned ?? 0) + 0.5) * square;
  if (pinned != null && middle > top) {
    marks.push(rect(
      { x: edge - 5, y: middle - square / 2 + 2, width: 3, height: square - 4, fill: ink }));
  }
  const frame = { stroke: ink, opacity: 0.6 };
  for (const row of new Set([at?.row, pinned])) {
    if (row == null) continue;
    marks.push(rect({
      x: edge - 0.5, y: y + row * square - 0.5, width: right - edge + 1, height: square + 1,
      ...frame,
    }));
  }
  for (const key of stroke?.keys ?? []) {
    marks.push(rect({
      x: x + key * square + 1, y: y + (stroke?.row ?? 0) * square + 1, width: square - 2,
      height: square - 2, stroke: ink, line: 2,
    }));
  }
  if (at?.key == null) return marks;
  const left = x + at.key * square;
  return [
    ...marks,
    rect({ x: left - 0.5, y: top - 0.5, width: square + 1, height: bottom - top + 1, ...frame }),
    rect({ x: left, y: y + at.row * square, width: square, height: square, stroke: ink, line: 2 }),
  ];
}

const DIGITS = 10; // the size of the numbers over the bars, CSS pixels
const NUMBER = 14; // their room
const OWN = { light: 150, dark: 170 }; // about the kind's own colour
const SIDE = 84; // and as far off the middle of the differences' colours
const FAINT = 0.35; // bars of the average

/**
 * @param {MapScene} scene
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
 * Write numbers over the bars, the largest first, where they touch no other.
 * @param {{plan: MapPlan, x: number, weights: Float32Array, floor: number,
 *   tallest: number, ink: string, measure: Measure}} strip
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
