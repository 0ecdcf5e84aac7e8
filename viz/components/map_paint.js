// The large map's canvas, drawn afresh at each change: a few hundred words and one scaled picture
// take about a millisecond, so there is no second layer that could disagree with the first.

import { hidden, isolate, paint } from "./shared.js";
import { AVERAGE, BARS, EDGE } from "./map_plan.js";

const DIGITS = 10; // the size of the numbers over the bars, CSS pixels

/** The weights as a picture of one pixel a square; what the future hides stays transparent. */
export function picture(data, colors) {
  const [rows, columns] = [data.queries.length, data.keys.length];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const image = new ImageData(columns, rows);
  data.weights.forEach((weight, n) => {
    if (hidden(data, Math.floor(n / columns), n % columns, weight)) return;
    paint(image.data, 4 * n, colors, level(weight));
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

const level = (weight) => Math.round(255 * Math.min(1, Math.max(0, weight)));

/**
 * @param {CanvasRenderingContext2D} context
 * @param {object} scene data, plan, theme, picture, `colors` of the theme, `at` {row, key} the
 *   pointer or cursor, `pinned` row, the origin `x`, `y` of the squares, `edge` left of which
 *   only words stand, and the frame's `width` and `height`
 */
export function drawMap(context, scene) {
  const { plan, edge, width, height } = scene;
  clipped(context, [edge, plan.top, width, height], () => squares(context, scene));
  clipped(context, [0, plan.top, width, height], () => rowWords(context, scene));
  clipped(context, [edge, 0, width, plan.head], () => columnWords(context, scene));
  clipped(context, [edge, plan.head, width, BARS], () => bars(context, scene));
  clipped(context, [0, plan.head, edge, BARS], () => {
    const row = scene.pinned ?? scene.at?.row;
    const name = row == null ? AVERAGE : isolate(scene.data.queries[row]);
    word(context, scene, name, edge - EDGE, plan.top - 11, row != null);
  });
  if (scene.at || scene.pinned != null) {
    clipped(context, [0, plan.top - 1, width, height], () => marks(context, scene));
  }
}

function clipped(context, [x, y, width, height], draw) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  draw();
  context.restore();
}

function squares(context, { data, plan, theme, picture, x, y }) {
  const [rows, columns] = [data.queries.length, data.keys.length];
  context.imageSmoothingEnabled = false;
  context.drawImage(picture, x, y, columns * plan.square, rows * plan.square);
  context.fillStyle = theme.paper; // a hair of paper between the squares
  for (let key = 0; key <= columns; key++) {
    context.fillRect(x + key * plan.square - 0.5, y, 1, rows * plan.square);
  }
  for (let row = 0; row <= rows; row++) {
    context.fillRect(x, y + row * plan.square - 0.5, columns * plan.square, 1);
  }
}

function rowWords(context, scene) {
  const { data, plan, y, edge, at, pinned } = scene;
  data.queries.forEach((token, row) => {
    const middle = y + (row + 0.5) * plan.square;
    if (middle < plan.top - plan.square || middle > scene.height + plan.square) return;
    word(context, scene, isolate(token), edge - EDGE, middle, row === at?.row || row === pinned);
  });
}

function word(context, { plan, theme }, text, right, middle, strong) {
  context.font = `${strong ? 600 : 400} ${plan.font}px ${theme.font}`;
  context.fillStyle = theme.ink;
  context.textAlign = "right";
  context.textBaseline = "middle";
  context.direction = "ltr";
  context.fillText(text, right, middle + 0.5);
}

function columnWords(context, { data, plan, theme, x, edge, width, at }) {
  context.fillStyle = theme.ink;
  context.direction = "ltr";
  context.textBaseline = plan.angle ? "middle" : "alphabetic";
  context.textAlign = plan.angle ? "left" : "center";
  data.keys.forEach((token, key) => {
    const middle = x + (key + 0.5) * plan.square;
    if (middle < edge || middle > width + plan.square) return;
    context.font = `${key === at?.key ? 600 : 400} ${plan.font}px ${theme.font}`;
    context.save();
    context.translate(middle, plan.head - 4);
    context.rotate(-plan.angle);
    context.fillText(isolate(token), 0, 0);
    context.restore();
  });
}

/** The weights of the pinned row, of the one that is pointed at, or the average of all. */
function bars(context, { data, plan, theme, colors, x, at, pinned }) {
  const row = pinned ?? at?.row;
  const weights = row == null ? average(data) : rowOf(data, row);
  const floor = plan.top - 4;
  const tallest = BARS - 18;
  context.fillStyle = theme.line;
  context.fillRect(x, floor, data.keys.length * plan.square, 1);
  const own = 3 * (theme.name === "dark" ? 170 : 150); // the kind's colour, about
  context.fillStyle = row == null ? theme.ink : `rgb(${colors.slice(own, own + 3).join()})`;
  context.globalAlpha = row == null ? 0.35 : 1;
  weights.forEach((weight, key) => {
    const height = Math.min(1, weight) * tallest;
    context.fillRect(x + key * plan.square + 2, floor - height, plan.square - 4, height);
  });
  if (row != null) numbers(context, { plan, theme, x, weights, floor, tallest });
}

/** Numbers over the bars, the largest first, each only where it touches no other. */
function numbers(context, { plan, theme, x, weights, floor, tallest }) {
  context.font = `400 ${DIGITS}px ${theme.font}`;
  context.fillStyle = theme.ink;
  context.textAlign = "center";
  context.textBaseline = "alphabetic";
  const taken = [];
  const order = [...weights.keys()].sort((a, b) => weights[b] - weights[a]);
  for (const key of order) {
    if (weights[key] < 0.005) break;
    const text = weights[key].toFixed(2);
    const half = context.measureText(text).width / 2 + 2;
    const middle = Math.max(x + (key + 0.5) * plan.square, x + half);
    if (taken.some(([from, to]) => middle - half < to && middle + half > from)) continue;
    taken.push([middle - half, middle + half]);
    context.fillText(text, middle, floor - Math.min(1, weights[key]) * tallest - 3);
  }
}

/** The row and the column that are pointed at, their square, and the row that is kept. */
function marks(context, { data, plan, theme, at, pinned, x, y, edge, width, height }) {
  const { square, top } = plan;
  const right = Math.min(width, x + data.keys.length * square);
  const bottom = Math.min(height, y + data.queries.length * square);
  context.strokeStyle = theme.ink;
  context.fillStyle = theme.ink;
  if (pinned != null) {
    const middle = y + (pinned + 0.5) * square;
    if (middle > top) context.fillRect(edge - 5, middle - square / 2 + 2, 3, square - 4);
  }
  context.lineWidth = 1;
  context.globalAlpha = 0.6;
  for (const row of new Set([at?.row, pinned])) {
    if (row != null) context.strokeRect(edge - 0.5, y + row * square - 0.5, right - edge + 1, square + 1);
  }
  if (at?.key == null) return;
  const left = x + at.key * square;
  context.strokeRect(left - 0.5, top - 0.5, square + 1, bottom - top + 1);
  context.globalAlpha = 1;
  context.lineWidth = 2;
  context.strokeRect(left, y + at.row * square, square, square);
}

export function rowOf(data, row) {
  return data.weights.subarray(row * data.keys.length, (row + 1) * data.keys.length);
}

function average(data) {
  const sums = new Float32Array(data.keys.length);
  data.weights.forEach((weight, n) => (sums[n % sums.length] += weight));
  return sums.map((sum) => sum / data.queries.length);
}
