// The large map's canvas, drawn afresh at each change: a few hundred words and one scaled picture
// take about a millisecond, so there is no second layer that could disagree with the first.

import { EDGE, hidden, isolate, paint } from "./shared.js";
import { bars } from "./map_bars.js";
import { AVERAGE } from "./map_plan.js";
import { leveller } from "./map_scale.js";

/**
 * The weights as a picture of one pixel a square; what the future hides, and what is less than the
 * threshold, stays transparent.
 */
export function picture(data, colors) {
  const [rows, columns] = [data.queries.length, data.keys.length];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const image = new ImageData(columns, rows);
  const level = leveller(data);
  data.weights.forEach((weight, n) => {
    const row = Math.floor(n / columns);
    if (hidden(data, row, n % columns, weight) || Math.abs(weight) < data.threshold) return;
    paint(image.data, 4 * n, colors, level(weight, row));
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
  return canvas;
}

/**
 * @param {CanvasRenderingContext2D|SvgCanvas} context
 * @param {object} scene data, plan, theme, picture, `colors` of the theme, the `average` row, `at`
 *   {row, key} the pointer or cursor, `pinned` row, the origin `x`, `y` of the squares, `edge`
 *   left of which only words stand, and the frame's `width` and `height`
 */
export function drawMap(context, scene) {
  const { plan, edge, width, height } = scene;
  clipped(context, [edge, plan.top, width, height], () => squares(context, scene));
  clipped(context, [0, plan.top, width, height], () => rowWords(context, scene));
  clipped(context, [edge, 0, width, plan.head], () => columnWords(context, scene));
  clipped(context, [edge, plan.head, width, plan.bars], () => bars(context, scene));
  clipped(context, [0, plan.head, edge, plan.bars], () => {
    const row = scene.pinned ?? scene.at?.row;
    const name = row == null ? AVERAGE : isolate(scene.data.queries[row]);
    const middle = plan.top - (scene.data.signed ? plan.bars / 2 : 11);
    word(context, scene, name, edge - EDGE, middle, row != null);
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

/** Only those in the frame: a map of 512 words has a quarter of a million. */
function squares(context, { data, plan, theme, picture, x, y, edge, width, height }) {
  const { square, top } = plan;
  const [left, right] = seen(x, edge, width, square, data.keys.length);
  const [first, last] = seen(y, top, height, square, data.queries.length);
  const [wide, high] = [right - left, last - first];
  if (wide <= 0 || high <= 0) return;
  const [from, down] = [x + left * square, y + first * square];
  context.imageSmoothingEnabled = false;
  context.drawImage(
    picture, left, first, wide, high, from, down, wide * square, high * square,
  );
  context.fillStyle = theme.paper; // a hair of paper between the squares
  for (let key = 0; key <= wide; key++) {
    context.fillRect(from + key * square - 0.5, down, 1, high * square);
  }
  for (let row = 0; row <= high; row++) {
    context.fillRect(from, down + row * square - 0.5, wide * square, 1);
  }
}

/** The first square and the one after the last that lie between two edges of the frame. */
const seen = (origin, start, end, square, count) => [
  Math.max(0, Math.floor((start - origin) / square)),
  Math.min(count, Math.ceil((end - origin) / square)),
];

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
    if (row == null) continue;
    context.strokeRect(edge - 0.5, y + row * square - 0.5, right - edge + 1, square + 1);
  }
  if (at?.key == null) return;
  const left = x + at.key * square;
  context.strokeRect(left - 0.5, top - 0.5, square + 1, bottom - top + 1);
  context.globalAlpha = 1;
  context.lineWidth = 2;
  context.strokeRect(left, y + at.row * square, square, square);
}
