// Message of `encode_inside` in viz/draw/inside_head.py: every number of one query word in one
// head.

/**
 * An element of MathML: its name, and its text or its children.
 * @typedef {[name: string, inside: string | MathNode[]]} MathNode
 */

/**
 * @typedef {object} WalkStep one step of the arithmetic, as the page explains it
 * @property {string} name short, for its button
 * @property {MathNode} equation
 * @property {string} shape with this model's and this sentence's numbers
 * @property {string} says one sentence
 * @property {string} code the line that does it, with its file
 */

/**
 * The fields of `Arithmetic` in transformer/analysis/paper/arithmetic.py, which says what they
 * hold.
 * @typedef {"x" | "q" | "k" | "v" | "products" | "dots" | "scaled" | "seen" | "weights"
 *   | "weighted" | "z" | "concat" | "norms" | "result" | "others" | "added"
 *   | "normalised"} ArrayName
 */

/**
 * @typedef {object} InsideData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {string} title
 * @property {string} query the row that looks, in words
 * @property {string[]} keys
 * @property {string} color of the kind of attention
 * @property {number} head from 0
 * @property {string} factor by which q · k is scaled, in words
 * @property {number} step to begin with; 0 shows all
 * @property {WalkStep[]} steps
 * @property {Record<ArrayName, Float32Array>} arrays
 * @property {Record<ArrayName, number[]>} shapes
 * @property {Partial<Record<ArrayName, number>>} ends of those drawn in colours: the size from
 *   which on the colour stays
 * @property {import("../core/raster.js").Palette} palette
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {InsideData}
 */
export function read({ meta, arrays: { light, dark, ...rest }, shapes }) {
  return {
    ...meta, palette: { light, dark },
    arrays: /** @type {InsideData["arrays"]} */ (rest),
    shapes: /** @type {InsideData["shapes"]} */ (shapes),
  };
}
