// Marks behind the text: a bar under each word, a shade behind those that the model finds
// improbable, and a line over what was forced.

import { rect } from "../core/scene.js";
import { barOf, BAR } from "./plan.js";

/** @import { Box } from "../core/frame.js" */
/** @import { Mark } from "../core/scene.js" */
/** @import { PlacedWord } from "./plan.js" */

const TRACK = 0.16; // opacity
const FILLED = 0.75;
const SHADE = 0.14; // of a word with a probability of 0
const POINTED = 0.08;
const UNSURE = 0.35; // of a word behind what was typed last
const OVER = { height: 1.5, hook: 6 }; // the line over what was forced

/**
 * @typedef {object} EditorScene
 * @property {PlacedWord[]} placed
 * @property {number | null} open the word whose pieces are shown, by its number
 * @property {(piece: number) => Box[]} boxesOf a piece
 * @property {boolean} fromRight whether the text runs from right to left
 * @property {import("./data.js").EditorData} data
 * @property {import("../core/theme.js").Theme} theme
 */

/** @param {EditorScene} scene @returns {Mark[]} */
export function editorMarks(scene) {
  const { placed, open, theme, fromRight } = scene;
  const { ink } = theme;
  const forced = placed.filter(({ word }) => word.forced);
  return [
    ...placed.flatMap(({ word, boxes }) => {
      const faded = word.sure ? 1 : UNSURE;
      const shade = SHADE * (1 - word.p) ** 2 * faded;
      const pointed = word.index === open ? POINTED : 0;
      return boxes.map(({ left, top, right, bottom }) => rect({
        x: left, y: top, width: right - left, height: bottom - top,
        fill: ink, opacity: shade + pointed,
      }));
    }),
    ...placed.flatMap((word) => bars(scene, word)),
    ...forced.flatMap(({ boxes }, n) => over(boxes, ink, n === forced.length - 1, fromRight)),
  ];
}

/**
 * Draw the bar of a word, or of each piece of the word under the pointer.
 * @param {EditorScene} scene
 * @param {PlacedWord} placed
 */
function bars({ open, boxesOf, data, theme, fromRight }, { word, boxes }) {
  const faded = word.sure ? 1 : UNSURE;
  const parts = word.index === open && word.count > 1
    ? data.pieces.slice(word.first, word.first + word.count).flatMap((piece, n) =>
      barOf(boxesOf(word.first + n).map(apart), piece.p, fromRight))
    : barOf(boxes.map(apart), word.p, fromRight);
  const bar = { height: BAR.height, fill: theme.ink };
  return parts.flatMap(({ x, y, width, start, filled }) => [
    rect({ ...bar, x, y, width, opacity: TRACK * faded }),
    rect({ ...bar, x: start, y, width: filled, opacity: FILLED * faded }),
  ]);
}

/** Shorten a bar, so that a word and its full stop have a bar each. @param {Box} box */
const apart = (box) => ({ ...box, right: Math.max(box.left + 1, box.right - BAR.apart) });

/** @param {Box[]} boxes @param {string} fill @param {boolean} last @param {boolean} fromRight */
function over(boxes, fill, last, fromRight) {
  const end = boxes[boxes.length - 1];
  const line = boxes.map(({ left, right, top }) =>
    rect({ x: left, y: top - 2, width: right - left, height: OVER.height, fill, opacity: 0.6 }));
  return last && end
    ? [...line, rect({
      x: fromRight ? end.left - OVER.height : end.right, y: end.top - 2,
      width: OVER.height, height: OVER.hook, fill, opacity: 0.6,
    })]
    : line;
}
