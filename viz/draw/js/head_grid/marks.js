// The grid as marks: every small map pixel by pixel, and the words at them.

import { blank, setPixel } from "../core/raster.js";
import { SHARP } from "../core/save.js";
import { hidden } from "../core/scale.js";
import { circle, group, path, picture, rect, text } from "../core/scene.js";
import { ident, labelOf, weightsOf } from "./data.js";

/** @import { Mark } from "../core/scene.js" */
/** @import { Measure, Theme } from "../core/theme.js" */
/** @import { GridPlan, Place, Placed, Words } from "./plan.js" */

const FADED = 140; // of 255: rows that the decoder has left behind
const VEIL = 0.55; // of the paper, over a map that is crossed out
/** @type {ReadonlySet<string>} */
const NONE = new Set();

/**
 * @param {GridPlan} plan
 * @param {Theme} theme
 * @param {number} ratio pixels for one unit of the plan
 * @param {ReadonlySet<string>} [crossed] `ident`s of the heads that are switched off
 * @returns {Mark[]}
 */
export const gridMarks = (plan, theme, ratio, crossed = NONE) => [
  ...plan.cells.map((cell) => picture({
    x: cell.x, y: cell.y, width: cell.width, height: cell.height, exact: true, title: labelOf(cell),
    raster: tileOf(cell, theme.name, ratio),
  })),
  ...plan.cells.filter(({ id }) => crossed.has(id)).flatMap((cell) => crossMarks(cell, theme)),
  ...plan.dots.map(({ x, y, radius, color }) => circle({ x, y, radius, fill: color })),
  ...plan.frames.map((frame) => rect({ ...frame, stroke: theme.line })),
  ...plan.bars.map((bar) => rect({ ...bar, fill: theme.ink })),
  ...wordMarks(plan.texts, theme),
];

/**
 * A veil of paper and two lines from corner to corner, which lie clear of the dark cells.
 * @param {Place} place
 * @param {Theme} theme
 * @returns {Mark[]}
 */
function crossMarks({ x, y, width, height }, theme) {
  const [right, low] = [x + width, y + height];
  const d = `M${x} ${y}L${right} ${low}M${right} ${y}L${x} ${low}`;
  return [
    rect({ x, y, width, height, fill: theme.paper, opacity: VEIL }),
    path({ d, stroke: theme.paper, line: 4 }),
    path({ d, stroke: theme.ink, line: 2 }),
    rect({ x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, stroke: theme.quiet }),
  ];
}

/**
 * @param {Words[]} texts
 * @param {Theme} theme
 * @returns {Mark[]}
 */
const wordMarks = (texts, theme) => texts.map(({ bold, quiet, align, ...words }) => text({
  ...words, anchor: align ?? "start", weight: bold ? 600 : 400,
  fill: quiet ? theme.quiet : theme.ink,
}));

/**
 * Test whether some cells of a map share a pixel.
 * @param {GridPlan} plan
 * @param {number} ratio
 */
export const isFolded = ({ cells }, ratio) => cells.some((cell) =>
  cell.part.columns > pixelsOf(cell.width, ratio) || cell.part.rows > pixelsOf(cell.height, ratio));

/** @param {number} side @param {number} ratio */
const pixelsOf = (side, ratio) => Math.max(1, Math.round(side * ratio));

/**
 * Every weight falls on one pixel, or covers several; where some share one, the largest counts: an
 * average would hide the single bright square that makes a head worth opening.
 * @param {Placed} cell
 * @param {"light" | "dark"} theme
 * @param {number} ratio
 */
export function tileOf(cell, theme, ratio) {
  const { part } = cell;
  const raster = blank(pixelsOf(cell.width, ratio), pixelsOf(cell.height, ratio));
  const [weights, colors] = [weightsOf(cell), part.palette[theme]];
  const [xs, ys] = [spans(raster.width, part.columns), spans(raster.height, part.rows)];
  const last = part.last ?? part.rows - 1;
  for (let y = 0, at = 0; y < raster.height; y++) {
    if (ys[y][0] > last) break; // not yet decoded: paper
    const faded = part.last != null && ys[y][1] <= last;
    for (let x = 0; x < raster.width; x++, at += 4) {
      let most = 0;
      for (let row = ys[y][0]; row < ys[y][1]; row++) {
        for (let column = xs[x][0]; column < xs[x][1]; column++) {
          most = Math.max(most, weights[row * part.columns + column]);
        }
      }
      if (hidden(part.causal, ys[y][1] - 1, xs[x][0], most)) continue;
      setPixel(raster.pixels, at, colors, most, faded ? FADED : 255);
    }
  }
  return raster;
}

/**
 * Find for each of `pixels` the first of `count` cells on it and the first past it.
 * @param {number} pixels
 * @param {number} count
 */
function spans(pixels, count) {
  return Array.from({ length: pixels }, (_, n) => {
    const first = Math.floor((n * count) / pixels);
    return [first, Math.max(first + 1, Math.floor(((n + 1) * count) / pixels))];
  });
}

const MARGIN = 16; // paper around the grid
const STROKE = 2.5; // as head_grid.css draws it around the selected map
const NOTE = 12; // letters, CSS pixels
const LINE = 17;

/**
 * @param {GridPlan} plan
 * @param {Theme} theme
 * @param {import("./data.js").Head | null} selected
 * @param {string[]} notes what the grid says under itself, a line for each sentence
 * @param {Measure} measure
 * @param {ReadonlySet<string>} [crossed] heads that are switched off
 * @returns {import("../core/save.js").Drawing}
 */
export function gridDrawing(plan, theme, selected, notes, measure, crossed) {
  const wide = Math.max(plan.width, ...notes.map((note) => Math.ceil(measure(note, NOTE, 400))));
  const high = plan.height + (notes.length && 13 + notes.length * LINE);
  const [width, height] = [wide + 2 * MARGIN, high + 2 * MARGIN];
  const words = notes.map((note, line) =>
    ({ text: note, x: 0, y: plan.height + 24 + line * LINE, size: NOTE, quiet: true }));
  const cell = plan.cells.find(({ id }) => id === ident(selected));
  const outline = cell ? [rect({
    x: cell.x - 2.25, y: cell.y - 2.25, width: cell.width + 4.5, height: cell.height + 4.5,
    stroke: theme.ink, line: STROKE,
  })] : [];
  return {
    name: "headlight-heads", width, height, theme,
    marks: [
      rect({ x: 0, y: 0, width, height, fill: theme.paper }),
      group([...gridMarks(plan, theme, SHARP, crossed), ...wordMarks(words, theme), ...outline],
        { x: MARGIN, y: MARGIN }),
    ],
  };
}
