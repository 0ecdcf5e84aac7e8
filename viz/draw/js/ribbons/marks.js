// The ribbons and their words as marks. All ribbons together are a layer that is drawn once; those
// of one token are few and drawn afresh at each change.

import { EDGE } from "../core/picture_view.js";
import { group, path, rect, text } from "../core/scene.js";
import { isolate, number, tidy, within } from "../core/text.js";
import { weightOf } from "./data.js";
import { laneAt, STEM } from "./plan.js";

/** @import { Visible } from "../core/picture_view.js" */
/** @import { Group, Mark } from "../core/scene.js" */
/** @import { Ribbon, RibbonData, Side, Token } from "./data.js" */
/** @import { RibbonPlan } from "./plan.js" */

const FADED = 0.68; // of a number whose ribbon is too faint to be drawn
const GAP = 4; // between a list and its ribbons

/**
 * @typedef {object} RibbonScene
 * @property {RibbonData} data
 * @property {RibbonPlan} plan
 * @property {import("../core/theme.js").Theme} theme
 * @property {import("../core/theme.js").Measure} measure
 * @property {string[]} colors of the heads
 * @property {number[]} on the heads that are drawn
 * @property {Token | null} at under the pointer or the cursor
 * @property {Token | null} picked
 * @property {Token | null} shown whose ribbons are drawn; those of all where there is none
 * @property {Mark} ribbons
 * @property {Visible} visible
 */

/**
 * @param {RibbonScene} scene
 * @returns {Mark[]}
 */
export const ribbonMarks = (scene) => [group([
  scene.ribbons,
  ...wordMarks(scene, "queries"),
  ...wordMarks(scene, "keys"),
  ...(scene.shown ? numberMarks(scene, scene.shown) : []),
  ...pointed(scene),
], { x: -scene.visible.x, y: -scene.visible.y })];

/**
 * @param {Pick<RibbonScene, "plan" | "colors" | "on" | "shown">} scene
 * @param {Ribbon[]} ribbons
 * @returns {Group}
 */
export function curveMarks({ plan, colors, on, shown }, ribbons) {
  const room = plan.numbers * plan.column;
  const left = tidy(plan.left + GAP + (shown?.side === "keys" ? room : 0));
  const right = tidy(plan.right - GAP - (shown?.side === "queries" ? room : 0));
  const middle = tidy((left + right) / 2);
  // a few ribbons can each be strong, thousands must not hide the strong ones in a haze
  const faint = shown ? 0.25 : within(20 / ribbons.length, 0.005, 0.08);
  const marks = ribbons.map(({ head, query, key, weight }) => {
    const nth = on.indexOf(head);
    const from = tidy(laneAt(plan, query, nth, on.length));
    const to = tidy(laneAt(plan, key, nth, on.length));
    return path({
      d: `M${left},${from}C${middle},${from} ${middle},${to} ${right},${to}`,
      stroke: colors[head], line: Math.max(0.75, weight * plan.lane),
      opacity: faint + (0.95 - faint) * weight,
    });
  });
  return group(marks, shown ? {} : { layer: [plan.width, plan.height] });
}

/** @param {RibbonScene} scene @param {Side} side @returns {Mark[]} */
function wordMarks({ data, plan, theme, at, picked, visible }, side) {
  const onLeft = side === "queries";
  return data[side].flatMap((token, index) => {
    if (!inFrame(plan, visible, index)) return [];
    const strong = is(at, side, index) || is(picked, side, index);
    return [text({
      text: isolate(token), x: onLeft ? plan.left - EDGE : plan.right + EDGE,
      y: (index + 0.5) * plan.row + 0.5, size: plan.font, weight: strong ? 600 : 400,
      anchor: onLeft ? "end" : "start", middle: true, fill: theme.ink,
    })];
  });
}

/**
 * Write the exact weights of the shown token beside each token of the other side.
 * @param {RibbonScene} scene
 * @param {Token} shown
 * @returns {Mark[]}
 */
function numberMarks({ data, plan, theme, measure, colors, on, visible }, shown) {
  const toKeys = shown.side === "queries";
  const first = toKeys ? plan.right - plan.numbers * plan.column : plan.left;
  return data[toKeys ? "keys" : "queries"].flatMap((_, index) => {
    if (!inFrame(plan, visible, index)) return [];
    const [query, key] = toKeys ? [shown.index, index] : [index, shown.index];
    return weightsAt(data, on, query, key, plan.numbers).flatMap(({ head, weight }, nth) => {
      const right = first + (nth + 1) * plan.column - 2;
      const middle = (index + 0.5) * plan.row;
      const words = weight > 0 && weight < 0.00005 ? "≈ 0" : number(weight);
      // a stroke of the head's colour under its number, which is in ink so that it can be read
      const written = text({
        text: words, x: right, y: middle + 0.5, size: plan.font, anchor: "end", middle: true,
        fill: theme.ink, opacity: weight < data.from ? FADED : 1,
      });
      if (on.length < 2 || weight < data.from) return [written];
      const width = measure(words, plan.font, 400);
      return [written, rect({
        x: right - width, y: middle + plan.font / 2, width, height: 2, fill: colors[head],
      })];
    });
  });
}

/**
 * List the heads' weights of one pair of tokens; where there is no room, the largest alone.
 * @param {RibbonData} data
 * @param {number[]} on
 * @param {number} query
 * @param {number} key
 * @param {number} most
 */
function weightsAt(data, on, query, key, most) {
  const all = on.map((head) => ({ head, weight: weightOf(data, head, query, key) }));
  return most === all.length ? all : [all.reduce((a, b) => (b.weight > a.weight ? b : a))];
}

/** Draw a stem beside the picked token, and a frame around the token under the pointer.
 * @param {RibbonScene} scene @returns {Mark[]} */
function pointed({ plan, theme, at, picked }) {
  const [start, end] = at?.side === "queries" ? [0, plan.left] : [plan.right, plan.width];
  return [
    ...(picked ? [rect({
      x: picked.side === "queries" ? plan.left - STEM / 2 : plan.right,
      y: picked.index * plan.row + 3, width: STEM / 2, height: plan.row - 6, fill: theme.ink,
    })] : []),
    ...(at ? [rect({
      x: start, y: at.index * plan.row, width: end - start, height: plan.row, fill: theme.ink,
      opacity: 0.07,
    })] : []),
  ];
}

/**
 * @param {RibbonPlan} plan
 * @param {Visible} visible
 * @param {number} index
 */
const inFrame = ({ row }, { y, height }, index) =>
  (index + 1) * row >= y && index * row <= y + height;

/** @param {Token | null} token @param {Side} side @param {number} index */
const is = (token, side, index) => token?.side === side && token.index === index;
