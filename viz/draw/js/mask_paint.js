// The squares of masks: where they go and how they look. What is seen is full; each reason that
// hides has a stroke of its own, so that nobody has to tell colours apart.

import { EDGE, isolate } from "./shared.js";

const SQUARE = { largest: 26, smallest: 13 };
const WIDEST = 600; // of a grid that has to share the page's width
const LONGEST = 120; // of a word at the side, CSS pixels; the whole of it is a hover away
const FADED = 0.35; // what belongs to padding
const STROKES = [
  [], [[0, 1, 1, 0]], [[0, 0.5, 1, 0.5]], [[0, 0, 1, 1], [0, 1, 1, 0]],
]; // for each reason lines from x, y to x, y in a unit square

/** Squares of one size for all grids, so that sentences can be compared, and room for the words. */
export function planMasks(grids, width, measure) {
  const side = Math.max(...grids.map((grid) => Math.max(grid.queries.length, grid.keys.length)));
  const room = (name) => Math.min(LONGEST, Math.ceil(Math.max(
    ...grids.flatMap((grid) => grid[name].map(measure)),
  )));
  const [left, top] = [room("queries") + EDGE, room("keys") + EDGE];
  const fits = Math.floor((Math.min(width, WIDEST) - left) / side);
  const square = Math.max(SQUARE.smallest, Math.min(SQUARE.largest, fits));
  return { square, left, top, font: Math.min(13, square - 2) };
}

/** Width and height of a grid with its words. */
export const extent = ({ square, left, top }, { queries, keys }) =>
  [left + keys.length * square + 2, top + queries.length * square + 2];

/**
 * @param {CanvasRenderingContext2D} context
 * @param {object} scene one of the data's grids as `grid`, plan, theme, `color` of what is seen,
 *   `numbers` instead of strokes, `chosen` row or null, `at` {row, key} the pointer or null
 */
export function paintMask(context, scene) {
  const { grid } = scene;
  words(context, scene);
  grid.why.forEach((codes, row) => {
    context.globalAlpha = grid.faded[row] ? FADED : 1;
    [...codes].forEach((code, key) => square(context, scene, row, key, Number(code)));
  });
  context.globalAlpha = 1;
  marks(context, scene);
}

function square(context, { plan, theme, color, numbers }, row, key, code) {
  const size = plan.square;
  const [x, y] = [plan.left + key * size, plan.top + row * size];
  context.fillStyle = code ? theme.line : color;
  const faint = context.globalAlpha;
  if (code) context.globalAlpha = faint * 0.4;
  context.fillRect(x + 0.5, y + 0.5, size - 1, size - 1);
  context.globalAlpha = faint;
  if (numbers) number(context, { plan, theme }, x + size / 2, y + size / 2, code);
  else stroke(context, { theme }, x, y, size, code);
}

function number(context, { plan, theme }, x, y, code) {
  context.font = `400 ${Math.round(plan.square * 0.54)}px ${theme.font}`;
  context.fillStyle = code ? theme.ink : "#FFFFFF";
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(code ? "−∞" : "0", x, y + 0.5);
}

function stroke(context, { theme }, x, y, size, code) {
  const [inset, span] = [size * 0.3, size * 0.4];
  const faint = context.globalAlpha;
  context.globalAlpha = faint * 0.65;
  context.strokeStyle = theme.ink;
  context.lineWidth = 1.25;
  context.beginPath();
  for (const [fromX, fromY, toX, toY] of STROKES[code]) {
    context.moveTo(x + inset + fromX * span, y + inset + fromY * span);
    context.lineTo(x + inset + toX * span, y + inset + toY * span);
  }
  context.stroke();
  context.globalAlpha = faint;
}

function words(context, { grid, plan, theme, chosen, at }) {
  const { square: size, left, top, font } = plan;
  context.fillStyle = theme.ink;
  context.textBaseline = "middle";
  context.direction = "ltr";
  context.textAlign = "right";
  grid.queries.forEach((token, row) => {
    context.font = `${row === at?.row || row === chosen ? 600 : 400} ${font}px ${theme.font}`;
    context.globalAlpha = grid.faded[row] ? 0.6 : 1;
    context.fillText(cut(context, token), left - EDGE, top + (row + 0.5) * size + 0.5);
  });
  context.globalAlpha = 1;
  context.textAlign = "left";
  grid.keys.forEach((token, key) => {
    context.font = `${key === at?.key ? 600 : 400} ${font}px ${theme.font}`;
    context.save();
    context.translate(left + (key + 0.5) * size, top - EDGE + 2);
    context.rotate(-Math.PI / 2);
    context.fillText(cut(context, token), 0, 0.5);
    context.restore();
  });
}

/** A word that is too long for its place, with the dots that say so. */
function cut(context, token) {
  const room = LONGEST - EDGE;
  if (context.measureText(token).width <= room) return isolate(token);
  const letters = [...token];
  while (letters.length && context.measureText(`${letters.join("")}…`).width > room) {
    letters.length = Math.min(letters.length - 1, 60); // no screen shows more of it
  }
  return isolate(`${letters.join("")}…`);
}

/** The chosen row and what is pointed at. */
function marks(context, { grid, plan, theme, chosen, at }) {
  const { square: size, left, top } = plan;
  context.strokeStyle = theme.ink;
  if (chosen != null) {
    context.lineWidth = 2;
    context.strokeRect(left - 1, top + chosen * size - 1, grid.keys.length * size + 2, size + 2);
  }
  if (at == null) return;
  context.lineWidth = 2;
  context.strokeRect(left + at.key * size, top + at.row * size, size, size);
}
