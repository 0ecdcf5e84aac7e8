// Values as pixels, and tables of 256 colours.

import { within } from "./text.js";

/**
 * @typedef {object} Raster
 * @property {number} width
 * @property {number} height
 * @property {Uint8ClampedArray} pixels red, green, blue and opacity of each
 */

/** A colour table: 256 × red, green, blue. @typedef {Uint8Array} Colors */

/** A colour table for each theme. @typedef {{light: Colors, dark: Colors}} Palette */

/**
 * One pixel a value, transparent where there is none.
 * @param {number} width
 * @param {number} height
 * @param {Colors} colors
 * @param {(n: number) => number} level the place of value n in the table; -1 for nothing
 * @returns {Raster}
 */
export function rasterOf(width, height, colors, level) {
  const raster = blank(width, height);
  for (let n = 0; n < width * height; n++) {
    const place = level(n);
    if (place >= 0) setPixel(raster.pixels, 4 * n, colors, place);
  }
  return raster;
}

/**
 * @param {number} width
 * @param {number} height
 * @returns {Raster} all transparent
 */
export const blank = (width, height) =>
  ({ width, height, pixels: new Uint8ClampedArray(4 * width * height) });

/**
 * Draw values below and above 0, a pixel each; from ±`end` on the colour stays.
 * @param {ArrayLike<number>} values
 * @param {number} width
 * @param {number} height
 * @param {Colors} colors
 * @param {number} end
 */
export const signedRaster = (values, width, height, colors, end) =>
  rasterOf(width, height, colors, (n) => 128 + Math.round(127 * within(values[n] / end, -1, 1)));

/**
 * @param {Uint8ClampedArray} pixels
 * @param {number} at where the pixel begins
 * @param {Colors} colors
 * @param {number} level
 * @param {number} [opacity] of 255
 */
export function setPixel(pixels, at, colors, level, opacity = 255) {
  pixels[at] = colors[3 * level];
  pixels[at + 1] = colors[3 * level + 1];
  pixels[at + 2] = colors[3 * level + 2];
  pixels[at + 3] = opacity;
}

/**
 * Write a colour of a table as CSS.
 * @param {Colors} colors
 * @param {number} level
 */
export const cssColor = (colors, level) =>
  `rgb(${colors.slice(3 * level, 3 * level + 3).join()})`;
