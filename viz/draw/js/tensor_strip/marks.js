// A tensor as marks: a word and a strip of colours for each row.

import { EDGE } from "../core/picture_view.js";
import { signedRaster } from "../core/raster.js";
import { picture, text } from "../core/scene.js";
import { isolate } from "../core/text.js";
import { LETTERS } from "./plan.js";

/** @import { StripPlan } from "./plan.js" */

/**
 * Made once for each plan: the pointer changes nothing in it.
 * @param {import("./data.js").StripData} data
 * @param {StripPlan} plan
 * @param {import("../core/theme.js").Theme} theme
 * @param {boolean} mixed whether `isMixed`
 * @returns {import("../core/scene.js").Mark[]}
 */
export function stripMarks(data, { left, row, wide, height }, theme, mixed) {
  const { rows, columns, values, end, palette } = data;
  const raster = signedRaster(values, columns, rows.length, palette[theme.name], end);
  return [
    ...rows.map((word, n) => text({
      text: isolate(word), x: left - EDGE, y: (n + 0.5) * row, room: left - EDGE,
      anchor: "end", middle: true, size: LETTERS, fill: theme.ink,
    })),
    picture({ raster, x: left, y: 0, width: wide, height, smooth: mixed }),
  ];
}

/**
 * Test whether some features share a pixel of the screen.
 * @param {number} columns
 * @param {StripPlan} plan
 * @param {number} ratio pixels of the screen for one unit of the plan
 */
export const isMixed = (columns, { wide }, ratio) => columns > wide * ratio;
