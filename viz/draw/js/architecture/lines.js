// The lines of Figure 1: up from box to box, past the sub-layers, and from stack to stack.

import { STACKS, SUBLAYERS } from "./stacks.js";

/** @typedef {[x: number, y: number]} Point */
/** @typedef {import("./plan.js").Place} Place */
/** @typedef {import("./plan.js").Layout} Layout */

/**
 * @typedef {object} Line
 * @property {Point[]} points
 * @property {"flow" | "residual" | "memory"} carries
 * @property {boolean} arrow whether it ends in a head
 */

/**
 * @param {Record<string, Place>} boxes
 * @param {Place} encoder its frame
 * @param {Layout} layout
 * @returns {Line[]}
 */
export function linesOf(boxes, encoder, layout) {
  const lines = Object.entries(STACKS).flatMap(([stack, rows]) => {
    /** @param {string} name */
    const at = (name) => boxes[`${stack}.${name}`];
    const off = stack === "encoder" ? -layout.residual : layout.residual;
    const ups = rows.slice(1).flatMap((row, n) => [rows[n]].flat().flatMap((below) =>
      // positions come from a formula, not from the tokens
      [row].flat().filter((name) => name !== "positions").map((name) => up(at(below), at(name)))));
    const residuals = SUBLAYERS.filter((name) => rows.includes(name)).map((name) =>
      around(at(name), at(`${name}_norm`), off));
    return [...ups, ...residuals];
  });
  return [...lines, across(boxes, encoder, layout.between)];
}

/**
 * From the middle of the smaller box straight up into the other one.
 * @param {Place} below
 * @param {Place} above
 * @returns {Line}
 */
function up(below, above) {
  const smaller = below.width < above.width ? below : above;
  const x = smaller.x + smaller.width / 2;
  const foot = above.y + above.height;
  return { points: [[x, below.y], [x, foot]], carries: "flow", arrow: foot < below.y };
}

/**
 * The residual: past a sub-layer on the outer side into its Add & norm (§3.1).
 * @param {Place} sublayer
 * @param {Place} norm
 * @param {number} off
 * @returns {Line}
 */
function around(sublayer, norm, off) {
  const edge = off < 0 ? sublayer.x : sublayer.x + sublayer.width;
  const foot = sublayer.y + sublayer.height + 10;
  const middle = sublayer.x + sublayer.width / 2;
  const into = norm.y + norm.height / 2;
  return {
    points: [[middle, foot], [edge + off, foot], [edge + off, into], [edge, into]],
    carries: "residual", arrow: true,
  };
}

/**
 * From the top of the encoder into the decoder's cross-attention: its keys and values.
 * @param {Record<string, Place>} boxes
 * @param {Place} frame
 * @param {number} between
 * @returns {Line}
 */
function across(boxes, { y }, between) {
  const [last, cross] = [boxes["encoder.feed_forward_norm"], boxes["decoder.cross_attention"]];
  const from = last.x + last.width / 2;
  const middle = last.x + last.width + between / 2;
  const into = cross.y + cross.height / 2;
  return {
    points: [[from, last.y], [from, y - 10], [middle, y - 10], [middle, into], [cross.x, into]],
    carries: "memory", arrow: true,
  };
}
