// The grid as a picture: every small map pixel by pixel, and the words and marks at them.

import { hidden, paint } from "./shared.js";
import { weightsOf } from "./grid_data.js";

const FADED = 140; // of 255: rows that the decoder has left behind

/**
 * @param {CanvasRenderingContext2D} context
 * @param {{plan: object, theme: object}} scene
 * @param {number} ratio pixels for one unit of the plan
 * @param {number} margin around it, in units of the plan
 * @returns {boolean} whether some cells share a pixel
 */
export function paintGrid(context, { plan, theme }, ratio, margin = 0) {
  const pen = document.createElement("canvas");
  const at = (n) => Math.round((n + margin) * ratio);
  context.setTransform(1, 0, 0, 1, 0, 0); // whole pixels, so that no map is blurred
  let folded = false;
  for (const cell of plan.cells) {
    drawTile(pen, cell, theme.name, ratio);
    context.drawImage(pen, at(cell.x), at(cell.y));
    folded ||= cell.part.columns > pen.width || cell.part.rows > pen.height;
  }
  context.setTransform(ratio, 0, 0, ratio, margin * ratio, margin * ratio);
  for (const { x, y, radius, color } of plan.dots) {
    context.fillStyle = color;
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }
  context.strokeStyle = theme.line;
  context.lineWidth = 1;
  for (const { x, y, wide, high } of plan.frames) context.strokeRect(x, y, wide, high);
  context.fillStyle = theme.ink;
  for (const { x, y, wide, high } of plan.bars) context.fillRect(x, y, wide, high);
  context.textBaseline = "alphabetic";
  for (const { text, x, y, align = "start", size, bold, quiet } of plan.texts) {
    context.font = fontOf(theme, size, bold);
    context.fillStyle = quiet ? quietInk(theme) : theme.ink;
    context.textAlign = align === "middle" ? "center" : align;
    context.fillText(text, x, y);
  }
  return folded;
}

export const fontOf = (theme, size, bold) => `${bold ? 600 : 400} ${size}px ${theme.font}`;

/** `--hl-quiet` once more, in a form that any program reads. */
export function quietInk({ ink, paper }) {
  const mixed = [1, 3, 5].map((at) =>
    0.68 * parseInt(ink.slice(at, at + 2), 16) + 0.32 * parseInt(paper.slice(at, at + 2), 16));
  return `rgb(${mixed.map(Math.round).join()})`;
}

// every weight falls on one pixel, or covers several; where some share one, the largest counts:
// an average would hide the single bright square that makes a head worth opening
export function drawTile(canvas, cell, themeName, ratio) {
  const { part, wide, high } = cell;
  canvas.width = Math.max(1, Math.round(wide * ratio));
  canvas.height = Math.max(1, Math.round(high * ratio));
  const context = canvas.getContext("2d");
  const image = context.createImageData(canvas.width, canvas.height);
  const [weights, colors] = [weightsOf(cell), part.palette[themeName]];
  const [xs, ys] = [spans(canvas.width, part.columns), spans(canvas.height, part.rows)];
  const last = part.last ?? part.rows - 1;
  for (let y = 0, at = 0; y < canvas.height; y++) {
    if (ys[y][0] > last) break; // not yet decoded: paper
    const faded = part.last != null && ys[y][1] <= last;
    for (let x = 0; x < canvas.width; x++, at += 4) {
      let most = 0;
      for (let row = ys[y][0]; row < ys[y][1]; row++) {
        for (let column = xs[x][0]; column < xs[x][1]; column++) {
          most = Math.max(most, weights[row * part.columns + column]);
        }
      }
      if (hidden(part, ys[y][1] - 1, xs[x][0], most)) continue;
      paint(image.data, at, colors, most);
      if (faded) image.data[at + 3] = FADED;
    }
  }
  context.putImageData(image, 0, 0);
}

/** For each of `pixels`, the first of `count` cells on it and the first that no longer is. */
function spans(pixels, count) {
  return Array.from({ length: pixels }, (_, n) => {
    const first = Math.floor((n * count) / pixels);
    return [first, Math.max(first + 1, Math.floor(((n + 1) * count) / pixels))];
  });
}
