// Message of `encode_strip` in viz/draw/architecture.py: a row for each token, a column for each
// feature.

/**
 * @typedef {object} StripData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {string} title
 * @property {string[]} rows
 * @property {number} columns
 * @property {string[] | null} columnNames of columns that are pieces of the vocabulary
 * @property {number} end the size from which on the colour stays
 * @property {Float32Array} values `[row, column]`
 * @property {import("../core/raster.js").Palette} palette
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {StripData}
 */
export const read = ({ meta, arrays: { values, light, dark }, shapes }) =>
  ({ ...meta, values, columns: shapes.values[1], palette: { light, dark } });
