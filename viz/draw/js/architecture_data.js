// What Python says about the drawing, and one strip of it as pixels.

import { paint } from "./shared.js";

const TABLE = 256 * 3;

/**
 * Read what `drawing_packet` in architecture.py wrote.
 * @param {Uint8Array} bytes
 * @returns {object} the header's fields; each box has its `levels`, `[map, row, column]` as `maps`,
 *   `rows`, `columns` and `values`; `colors` by palette and theme
 */
export function unpackDrawing(bytes) {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  let at = 4 + length;
  const next = (count) => bytes.slice(at, at += count);
  const colors = Object.fromEntries(header.palettes.map((name) =>
    [name, { light: next(TABLE), dark: next(TABLE) }]));
  const boxes = header.boxes.map((box) => {
    const [maps, rows, columns] = box.levels;
    return { ...box, maps, rows, columns, values: next(maps * rows * columns) };
  });
  return { ...header, colors, boxes };
}

/** One map of a box as a canvas, a pixel a value. */
export function pixels({ values, rows, columns }, map, colors) {
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [columns, rows];
  const context = canvas.getContext("2d");
  const image = context.createImageData(columns, rows);
  const first = map * rows * columns;
  for (let n = 0; n < rows * columns; n++) paint(image.data, 4 * n, colors, values[first + n]);
  context.putImageData(image, 0, 0);
  return canvas;
}
