// The grid as a file: the picture on the screen, with its sentences and the outline.

import { SHARP } from "../core/save.js";
import { group, rect } from "../core/scene.js";
import { ident } from "./data.js";
import { gridMarks, wordMarks } from "./marks.js";

const MARGIN = 16; // paper around the grid
const STROKE = 2.5; // as head_grid.css draws it around the selected map
const NOTE = 12; // letters, CSS pixels
const LINE = 17;

/**
 * @param {import("./plan.js").GridPlan} plan
 * @param {import("../core/theme.js").Theme} theme
 * @param {import("./data.js").Head | null} selected
 * @param {string[]} notes what the grid says under itself, a line for each sentence
 * @param {import("../core/theme.js").Measure} measure
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
