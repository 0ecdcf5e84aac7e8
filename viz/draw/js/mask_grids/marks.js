// Masks as marks. A visible key is full; each reason that hides has a stroke of its own, so that
// nobody has to tell colours apart.

import { EDGE } from "../core/picture_view.js";
import { group, path, rect, text } from "../core/scene.js";
import { isolate, shortened } from "../core/text.js";
import { rowOf } from "./data.js";
import { extent, LONGEST } from "./plan.js";

/** @import { Group, Mark } from "../core/scene.js" */
/** @import { Measure, Theme } from "../core/theme.js" */
/** @import { MaskGrid } from "./data.js" */
/** @import { MasksPlan, Square } from "./plan.js" */

/**
 * @typedef {object} Look of the squares
 * @property {string} color of what may be seen
 * @property {boolean} asNumbers
 * @property {Theme} theme
 */

// for each code the lines of its stroke, from x, y to x, y in a unit square: none, a slash, a dash,
// a cross
const STROKES = [
  [], [[0, 1, 1, 0]], [[0, 0.5, 1, 0.5]], [[0, 0, 1, 1], [0, 1, 1, 0]],
];
const FAINT = { hidden: 0.4, stroke: 0.65, padding: 0.35, paddingWord: 0.68 };
const WHITE = "#FFFFFF"; // on the colour of a kind

/**
 * All squares of a grid: they stay the same under the pointer.
 * @param {MaskGrid} grid
 * @param {MasksPlan} plan
 * @param {Look} look
 */
export function gridMarks(grid, plan, look) {
  const { square, left, top } = plan;
  const marks = grid.queries.flatMap((_, row) =>
    Array.from(rowOf(grid, row)).flatMap((code, key) => squareMarks(code, look, {
      x: left + key * square, y: top + row * square, side: square,
      opacity: grid.faded[row] ? FAINT.padding : 1,
    })));
  return group(marks, { layer: extent(plan, grid) });
}

/**
 * @param {number} code
 * @param {Look} look
 * @param {{x: number, y: number, side: number, opacity?: number}} place
 * @returns {Mark[]}
 */
export function squareMarks(code, { color, asNumbers, theme }, { x, y, side, opacity = 1 }) {
  const square = rect({
    x: x + 0.5, y: y + 0.5, width: side - 1, height: side - 1,
    fill: code ? theme.line : color, opacity: code ? opacity * FAINT.hidden : opacity,
  });
  if (asNumbers) {
    return [square, text({
      text: code ? "−∞" : "0", x: x + side / 2, y: y + side / 2 + 0.5,
      size: Math.round(side * 0.54), anchor: "middle", middle: true,
      fill: code ? theme.ink : WHITE, opacity,
    })];
  }
  return code ? [square, strokeMark(code, theme, x, y, side, opacity)] : [square];
}

/**
 * @param {number} code
 * @param {Theme} theme
 * @param {number} x
 * @param {number} y
 * @param {number} side
 * @param {number} opacity
 */
function strokeMark(code, theme, x, y, side, opacity) {
  /** @param {number} across @param {number} down */
  const point = (across, down) => [x + side * (0.3 + 0.4 * across), y + side * (0.3 + 0.4 * down)];
  const lines = STROKES[code].map(([fromX, fromY, toX, toY]) =>
    `M${point(fromX, fromY)}L${point(toX, toY)}`);
  return path({
    d: lines.join(""), stroke: theme.ink, line: 1.25, opacity: opacity * FAINT.stroke,
  });
}

/**
 * @typedef {object} MaskScene
 * @property {MaskGrid} grid
 * @property {MasksPlan} plan
 * @property {Theme} theme
 * @property {Measure} measure
 * @property {Group} squares what `gridMarks` gives
 * @property {number | null} chosen row
 * @property {Square | null} at the pointer or the cursor
 */

/**
 * @param {MaskScene} scene
 * @returns {Mark[]}
 */
export const maskMarks = (scene) =>
  [...rowWords(scene), ...columnWords(scene), scene.squares, ...frames(scene)];

/** @param {MaskScene} scene @returns {Mark[]} */
const rowWords = ({ grid, plan, theme, measure, chosen, at }) => grid.queries.map((token, row) => {
  const weight = row === at?.row || row === chosen ? 600 : 400;
  return text({
    text: fitted(token, plan.font, weight, measure), size: plan.font, weight,
    x: plan.left - EDGE, y: plan.top + (row + 0.5) * plan.square + 0.5, anchor: "end",
    middle: true, fill: theme.ink, opacity: grid.faded[row] ? FAINT.paddingWord : 1,
  });
});

/** @param {MaskScene} scene @returns {Mark[]} */
const columnWords = ({ grid, plan, theme, measure, at }) => grid.keys.map((token, key) => {
  const weight = key === at?.key ? 600 : 400;
  return text({
    text: fitted(token, plan.font, weight, measure), size: plan.font, weight,
    x: plan.left + (key + 0.5) * plan.square + 0.5, y: plan.top - EDGE + 2, middle: true,
    angle: -Math.PI / 2, fill: theme.ink,
  });
});

/**
 * Shorten a word that is too long for its place.
 * @param {string} token
 * @param {number} size
 * @param {400 | 600} weight
 * @param {Measure} measure
 */
const fitted = (token, size, weight, measure) =>
  isolate(shortened(token, LONGEST - EDGE, (word) => measure(word, size, weight)));

/**
 * Frame the chosen row, and the square under the pointer.
 * @param {MaskScene} scene
 * @returns {Mark[]}
 */
function frames({ grid, plan: { square, left, top }, theme, chosen, at }) {
  const frame = { stroke: theme.ink, line: 2 };
  return [
    ...(chosen == null ? [] : [rect({
      x: left - 1, y: top + chosen * square - 1,
      width: grid.keys.length * square + 2, height: square + 2, ...frame,
    })]),
    ...(at == null ? [] : [rect({
      x: left + at.key * square, y: top + at.row * square, width: square, height: square, ...frame,
    })]),
  ];
}
