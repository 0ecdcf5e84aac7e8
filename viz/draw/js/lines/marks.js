// The summary as marks: for each head the mean weight at each relative position, its role, and a
// measure from the sentence where it is lowest to the one where it is highest.

import { rasterOf } from "../core/raster.js";
import { circle, picture, rect, text } from "../core/scene.js";
import { figure, within } from "../core/text.js";
import { HEAD, LETTERS, RANGE, ROW, topOf } from "./plan.js";

/** @import { Mark } from "../core/scene.js" */
/** @import { Head } from "../head_grid/data.js" */
/** @import { LinesData } from "./data.js" */
/** @import { Panel, SummaryAt, SummaryPlan } from "./plan.js" */

const POINT = 3; // radius of a mean
const NARROW = 10; // a column, whose number would touch the next one's
const LABELLED = 4; // every so manyth distance has a number

/**
 * @typedef {object} SummaryScene
 * @property {LinesData} data
 * @property {SummaryPlan} plan
 * @property {string} measure that is shown
 * @property {import("../core/raster.js").Raster[]} rasters of the panels
 * @property {import("../core/theme.js").Theme} theme
 * @property {SummaryAt | null} at
 * @property {Head | null} open the head that the explorer shows
 */

/** The colour's place in the table of 256. @param {number} weight */
const levelOf = (weight) => Math.round(255 * Math.sqrt(within(weight, 0, 1)));

/**
 * Draw a pixel for each head and distance.
 * @param {Panel} panel
 * @param {import("../core/theme.js").ThemeName} theme
 */
export function rasterOfPanel({ part, rows }, theme) {
  const { columns, profile, palette } = part;
  return rasterOf(columns, rows.length, palette[theme], (n) =>
    levelOf(profile[rows[Math.floor(n / columns)] * columns + (n % columns)]));
}

/** Find both ends of a measure over all heads and sentences, one scale for all kinds.
 * @param {LinesData} data @param {string} measure
 * @returns {[number, number]} */
function endsOf({ parts }, measure) {
  const values = parts.flatMap(({ heads }) => heads.flatMap(({ values: measures }) => {
    const [mean, , lowest, highest] = measures[measure];
    return lowest && highest ? [lowest[0], highest[0]] : [0, mean];
  }));
  return [Math.min(...values), Math.max(...values)];
}

/** @param {SummaryScene} scene @returns {Mark[]} */
export function summaryMarks(scene) {
  const ends = endsOf(scene.data, scene.measure);
  return scene.plan.panels.flatMap((panel, n) => [
    ...headOf(scene, panel, ends),
    ...pointed(scene, panel, n),
    ...strips(scene, panel, n),
    ...panel.rows.flatMap((head, row) => rowOf(scene, panel, head, row, ends)),
  ]);
}

/** Write title, distances, and the ends of the measure's scale.
 * @param {SummaryScene} scene @param {Panel} panel @param {[number, number]} ends
 * @returns {Mark[]} */
function headOf({ data: { reach }, theme, measure }, panel, [low, high]) {
  const { part, x, y, strip, cell, range } = panel;
  const axis = y + HEAD.axis;
  const quiet = { y: axis, size: LETTERS.axis, fill: theme.quiet, middle: true };
  const distances = Array.from({ length: part.columns }, (_, column) => column - reach - 1);
  const labels = distances.flatMap((distance, column) => {
    const beyond = Math.abs(distance) > reach;
    const crowded = cell < NARROW && Math.abs(distance) === reach; // beside what is beyond
    const words = beyond ? "…"
      : distance % LABELLED || crowded ? "" : String(distance).replace("-", "−");
    return words ? [text({
      ...quiet, text: words, x: strip + (column + 0.5) * cell, anchor: "middle",
      weight: distance ? 400 : 600,
    })] : [];
  });
  return [
    circle({ x: x + 5, y: y + HEAD.title, radius: 5, fill: part.color }),
    text({
      text: part.title, x: x + 16, y: y + HEAD.title, size: LETTERS.title, weight: 600,
      middle: true, fill: theme.ink,
    }),
    ...labels,
    text({ ...quiet, text: figure(round(low)), x: range }),
    text({ ...quiet, text: figure(round(high)), x: range + RANGE, anchor: "end" }),
    text({
      ...quiet, text: measure, x: range + RANGE, y: y + HEAD.title, size: LETTERS.words,
      anchor: "end",
    }),
  ];
}

/** @param {number} value */
const round = (value) => Number(value.toPrecision(2));

/** @param {SummaryScene} scene @param {Panel} panel @param {number} n @returns {Mark[]} */
function strips({ rasters, theme }, panel, n) {
  const { strip, cell, part, rows } = panel;
  const [width, height, top] = [cell * part.columns, ROW * rows.length, topOf(panel, 0)];
  const fill = theme.paper; // a hair of paper between the heads
  return [
    picture({ raster: rasters[n], x: strip, y: top, width, height, title: part.title }),
    ...rows.slice(1).map((_, row) =>
      rect({ x: strip, y: top + (row + 1) * ROW - 1, width, height: 2, fill })),
    ...Array.from({ length: part.columns - 1 }, (_, column) =>
      rect({ x: strip + (column + 1) * cell - 0.5, y: top, width: 1, height, fill })),
  ];
}

/** @param {SummaryScene} scene @param {Panel} panel @param {number} n @returns {Mark[]} */
function pointed({ theme, at, open }, panel, n) {
  const { x, width, part, rows } = panel;
  const marks = rows.flatMap((head, row) => {
    const { layer, head: number } = part.heads[head];
    const isOpen = open?.[0] === part.kind && open[1] === layer && open[2] === number;
    return isOpen ? [rect({
      x: x - 5, y: topOf(panel, row) + 2, width: 3, height: ROW - 4, fill: theme.ink,
    })] : [];
  });
  if (at?.panel !== n) return marks;
  return [...marks, rect({
    x: x - 2, y: topOf(panel, at.row), width: width + 6, height: ROW, fill: theme.ink,
    opacity: 0.09,
  })];
}

/**
 * @param {SummaryScene} scene
 * @param {Panel} panel
 * @param {number} number of the head
 * @param {number} row
 * @param {[number, number]} ends
 * @returns {Mark[]}
 */
function rowOf({ theme, measure, at, plan }, panel, number, row, [low, high]) {
  const { part, x, role, range } = panel;
  const head = part.heads[number];
  const middle = topOf(panel, row) + ROW / 2;
  const strong = at && plan.panels[at.panel] === panel && at.row === row;
  /** @param {number} value */
  const place = (value) => range + (high > low ? (value - low) / (high - low) : 0) * RANGE;
  const [mean, deviation = 0, lowest, highest] = head.values[measure];
  const [from, to] = lowest && highest ? [lowest[0], highest[0]] : [low, mean];
  const words = { y: middle, size: LETTERS.words, middle: true, fill: theme.ink };
  const [first, last] = [place(Math.max(low, mean - deviation)),
    place(Math.min(high, mean + deviation))];
  return [
    text({ ...words, text: head.name, x, weight: strong ? 600 : 400 }),
    text({ ...words, text: head.role, x: role }),
    rect({
      x: place(from), y: middle - 0.5, width: place(to) - place(from), height: 1,
      fill: theme.quiet,
    }),
    rect({
      x: first, y: middle - 2, width: last - first, height: 4, fill: part.color, opacity: 0.45,
    }),
    circle({ x: place(mean), y: middle, radius: POINT, fill: part.color }),
  ];
}
