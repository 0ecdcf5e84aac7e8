// Message of `encode_map` in viz/draw/attention_map.py: one head with its exact weights.

/**
 * @typedef {object} MapData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {"encoder_self" | "decoder_self" | "cross"} kind
 * @property {boolean} causal whether a query sees no later key
 * @property {string} title
 * @property {string} rows what the rows are, in words
 * @property {string} columns
 * @property {string} note
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {string[] | null} rowNames what the decoder reads and writes at each query
 * @property {import("../core/scale.js").ScaleName} scale
 * @property {number} threshold weights of less are not drawn
 * @property {string} [amount] what a square holds, where it is no weight
 * @property {boolean} signed the weights are a difference of two maps
 * @property {boolean} tallBars the strip of bars is as high as that of a difference
 * @property {boolean} [paints] pressed squares are sent to the page
 * @property {Float32Array} weights `[query, key]`
 * @property {import("../core/raster.js").Palette} palette
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {MapData}
 */
export const read = ({ meta, arrays: { weights, light, dark } }) =>
  ({ ...meta, weights, palette: { light, dark } });

/**
 * Get the weights of one row.
 * @param {{weights: Float32Array, keys: string[]}} data
 * @param {number} row
 */
export const rowOf = ({ weights, keys }, row) =>
  weights.subarray(row * keys.length, (row + 1) * keys.length);

/** Average all rows. @param {MapData} data */
export function averageRow({ weights, queries, keys }) {
  const sums = new Float32Array(keys.length);
  weights.forEach((weight, n) => (sums[n % sums.length] += weight));
  return sums.map((sum) => sum / queries.length);
}

/**
 * @typedef {object} Stroke
 * @property {number} row
 * @property {number[]} keys in the order in which the pointer came over them
 */

/**
 * The stroke as the pointer comes to a column: nothing between there and the last one is left out.
 * @param {Stroke} stroke
 * @param {number} key
 * @returns {Stroke}
 */
export function extended({ row, keys }, key) {
  const last = keys[keys.length - 1];
  const step = Math.sign(key - last);
  const added = Array.from({ length: Math.abs(key - last) }, (_, n) => last + step * (n + 1));
  return { row, keys: [...new Set([...keys, ...added])] };
}

/**
 * Write the message of a stroke: its squares, and the map they belong to.
 * @param {{title: string, queries: string[], keys: string[]}} data
 * @param {Stroke} stroke
 */
export const paintedOf = ({ title, queries, keys }, stroke) =>
  ({ title, queries, keys, squares: stroke.keys.map((key) => [stroke.row, key]) });
