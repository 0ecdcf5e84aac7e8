// A picture is one list of marks, plain data: canvas.js and svg.js draw the same list.


/** @import { Raster } from "./color.ts" */

/** @typedef {{x: number, y: number, width: number, height: number}} Place */

/**
 * @typedef {object} Paint
 * @property {string} [fill] nothing is filled without one
 * @property {string} [stroke] nor stroked
 * @property {number} [line] width of the stroke, 1 by default
 * @property {number[]} [dash] lengths of the strokes and gaps of a dashed path
 * @property {number} [opacity]
 *
 * @typedef {Place & Paint & {type: "rect"}} Rect
 * @typedef {Paint & {type: "path", d: string}} Path with `d` as SVG writes it
 * @typedef {{type: "circle", x: number, y: number, radius: number, fill: string}} Circle
 *
 * @typedef {object} Text
 * @property {"text"} type
 * @property {string} text
 * @property {number} x
 * @property {number} y
 * @property {number} size of the letters
 * @property {string} fill
 * @property {400 | 600} [weight]
 * @property {"start" | "middle" | "end"} [anchor] which part of the text stands at x
 * @property {boolean} [middle] y is the middle of the letters, not their foot
 * @property {number} [angle] radians, clockwise, around x and y
 * @property {number} [room] a longer text is squeezed into this width, never cut
 * @property {number} [opacity]
 *
 * @typedef {object} Scaled a raster in its place
 * @property {"picture"} type
 * @property {Raster} raster
 * @property {[left: number, top: number, width: number, height: number]} [part] of the raster:
 *   that alone is drawn on a canvas; by default, and in an SVG, all of it is
 * @property {boolean} [smooth] mix the pixels, where there are more than the screen has
 * @property {boolean} [exact] the raster has the screen's pixels: a canvas moves it to whole ones
 * @property {string} [title] what it shows, for programs that read SVG
 * @property {number} [opacity]
 *
 * @typedef {Place & Scaled} Picture
 *
 * @typedef {object} Group
 * @property {"group"} type
 * @property {Mark[]} marks
 * @property {number} [x] moves them
 * @property {number} [y]
 * @property {[x: number, y: number, width: number, height: number]} [clip] a canvas cuts here; a
 *   file shows the whole picture, where nothing is cut
 * @property {[width: number, height: number]} [layer] of marks that are many and stay the same: a
 *   canvas draws them once and keeps the pixels as long as this object lives
 *
 * @typedef {Rect | Path | Circle | Text | Picture | Group} Mark
 */

/** @param {Omit<Rect, "type">} mark @returns {Rect} */
export const rect = (mark) => ({ type: "rect", ...mark });

/** @param {Omit<Path, "type">} mark @returns {Path} */
export const path = (mark) => ({ type: "path", ...mark });

/** @param {Omit<Circle, "type">} mark @returns {Circle} */
export const circle = (mark) => ({ type: "circle", ...mark });

/** @param {Omit<Text, "type">} mark @returns {Text} */
export const text = (mark) => ({ type: "text", ...mark });

/** @param {Omit<Picture, "type">} mark @returns {Picture} */
export const picture = (mark) => ({ type: "picture", ...mark });

/** @param {Mark[]} marks @param {Omit<Group, "type" | "marks">} [options] @returns {Group} */
export const group = (marks, options = {}) => ({ type: "group", marks, ...options });
