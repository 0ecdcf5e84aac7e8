// The bars as marks: each piece with its probability over a bar that runs from 0 to 1.

import { rect, text } from "../core/scene.js";
import { digits, isolate } from "../core/text.js";
import { FONT, heightOf, leftOf, ROW, topOf } from "./plan.js";

/** @import { Mark } from "../core/scene.js" */
/** @import { BarAt, Option, StepsData } from "./data.js" */

const TRACK = 0.14; // opacity
const FILLED = { written: 1, rather: 0.7, other: 0.45 };

/**
 * @typedef {object} BarsScene
 * @property {StepsData} data
 * @property {import("./plan.js").BarsPlan} plan
 * @property {import("../core/theme.js").Theme} theme
 * @property {BarAt | null} at under the pointer or the cursor
 * @property {[first: number, last: number]} steps that are to be seen
 */

/** @param {BarsScene} scene @returns {Mark[]} */
export function barMarks(scene) {
  const [first, last] = scene.steps;
  return scene.data.steps.slice(first, last + 1).flatMap((options, n) =>
    options.flatMap((option, row) =>
      line(scene, { step: first + n, row }, option, option.p > options[0].p)));
}

/**
 * @param {BarsScene} scene
 * @param {BarAt} at
 * @param {Option} option
 * @param {boolean} rather whether it is more probable than what was written
 * @returns {Mark[]}
 */
function line(scene, at, { p }, rather) {
  const { plan, theme } = scene;
  const { step, row } = at;
  const [x, y, width] = [leftOf(plan, step), topOf(row), plan.column];
  const fill = row && !rather ? theme.quiet : theme.ink;
  const pointed = scene.at?.step === step && scene.at.row === row;
  const level = row ? (rather ? FILLED.rather : FILLED.other) : FILLED.written;
  const middle = y + ROW.pad + ROW.text / 2;
  const bar = {
    x: x + ROW.pad, y: y + ROW.pad + ROW.text + 1, height: row ? ROW.bar : ROW.bar + 2,
    fill: theme.ink,
  };
  const whole = width - 2 * ROW.pad;
  return [
    ...(pointed ? [rect({
      x, y: y + 2, width, height: heightOf(row) - 2, fill: theme.ink, opacity: 0.09,
    })] : []),
    text({
      text: isolate(plan.texts[step][row]), x: x + ROW.pad, y: middle, middle: true, fill,
      size: row ? FONT.other : FONT.written, weight: row ? 400 : 600,
    }),
    text({
      text: digits(p), x: x + width - ROW.pad, y: middle, middle: true, fill, anchor: "end",
      size: FONT.number,
    }),
    rect({ ...bar, width: whole, opacity: TRACK }),
    rect({ ...bar, width: p * whole, opacity: level }),
  ];
}
