// Message of `encode_masks` in viz/draw/mask_grids.py: the masks of a batch, square by square.

/**
 * @typedef {object} MaskGrid the mask of one sentence
 * @property {string} title
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {string[]} names of the rows, at the head of a sentence
 * @property {boolean[]} faded rows that are padding
 * @property {Uint8Array} codes `[query, key]`, places in `reasons`
 *
 * @typedef {object} MasksData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {string} title
 * @property {string} color of what may be seen
 * @property {boolean} asNumbers what is added stands in the squares, not a stroke for each reason
 * @property {[sentence: number, row: number]} chosen
 * @property {string[]} reasons in words; the first, of what may be seen, is empty
 * @property {[code: number, text: string][]} legend
 * @property {MaskGrid[]} grids
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {MasksData}
 */
export const read = ({ meta, arrays }) => ({
  ...meta,
  grids: meta.grids.map((/** @type {Omit<MaskGrid, "codes">} */ grid, /** @type {number} */ n) =>
    ({ ...grid, codes: arrays[`codes.${n}`] })),
});

/**
 * The codes of one row.
 * @param {MaskGrid} grid
 * @param {number} row
 */
export const rowOf = ({ codes, keys }, row) =>
  codes.subarray(row * keys.length, (row + 1) * keys.length);
