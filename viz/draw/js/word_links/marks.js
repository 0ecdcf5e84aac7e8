// The two sentences and their links as marks.

import { group, path, rect, text } from "../core/scene.js";
import { digits, isolate, tidy } from "../core/text.js";
import { linksOf, OTHER, same } from "./data.js";
import { NUMBER } from "./plan.js";

/** @import { Mark } from "../core/scene.js" */
/** @import { Link, LinkData, Side, Token } from "./data.js" */
/** @import { LinkPlan, Place } from "./plan.js" */

const FADED = { word: 0.38, link: 0.08 };
const STROKE = { thinnest: 1.25, widest: 7 };
const AIR = 3; // between a word and its links
const EDGE = 8; // between a word and its number in a column

/**
 * @typedef {object} LinkScene
 * @property {LinkData} data
 * @property {LinkPlan} plan
 * @property {import("../core/theme.js").Theme} theme
 * @property {import("../core/theme.js").Measure} measure
 * @property {Token | null} at under the pointer or the cursor
 * @property {Token | null} pinned
 * @property {Token | null} shown whose partners are shown; all are alike where there is none
 * @property {import("../core/picture_view.js").Visible} visible
 */

/** @param {LinkScene} scene @returns {Mark[]} */
export function linkMarks(scene) {
  const { data, shown, visible } = scene;
  const own = shown ? linksOf(data, shown) : [];
  const others = data.links.filter((link) => !own.includes(link));
  return [group([
    ...strokes(scene, others, shown ? FADED.link : 1),
    ...strokes(scene, own, 1),
    ...words(scene, "source", own),
    ...words(scene, "target", own),
  ], { x: -visible.x, y: -visible.y })];
}

/**
 * Draw links, the strongest on top.
 * @param {LinkScene} scene
 * @param {Link[]} links
 * @param {number} opacity
 */
function strokes({ data, plan }, links, opacity) {
  // a strength is a share of 1; one that is none is drawn as the share of the largest
  const whole = Math.max(1, ...data.links.map(({ strength }) => strength));
  return [...links].sort((a, b) => a.strength - b.strength).map((link) => {
    const share = link.strength / whole;
    return path({
      d: curve(plan, plan.places.source[link.source], plan.places.target[link.target]),
      stroke: data.color, line: STROKE.thinnest + share * (STROKE.widest - STROKE.thinnest),
      opacity: opacity * (0.3 + 0.65 * share),
    });
  });
}

/**
 * @param {LinkPlan} plan
 * @param {Place} source
 * @param {Place} target
 */
function curve({ columns, bend }, source, target) {
  const [x0, y0, x1, y1] = (columns
    ? [source.x + source.width - AIR, source.y + source.height / 2, target.x + AIR,
      target.y + target.height / 2]
    : [source.x + source.width / 2, source.y + source.height - AIR, target.x + target.width / 2,
      target.y + AIR]).map(tidy);
  const [dx, dy] = columns ? [bend, 0] : [0, bend];
  return `M${x0},${y0}C${tidy(x0 + dx)},${tidy(y0 + dy)} ${tidy(x1 - dx)},${tidy(y1 - dy)} `
    + `${x1},${y1}`;
}

/**
 * @param {LinkScene} scene
 * @param {Side} side
 * @param {Link[]} own of the word that is shown
 * @returns {Mark[]}
 */
function words(scene, side, own) {
  const { data, plan, theme, at, pinned, shown } = scene;
  const linked = new Set(data.links.map((link) => link[side]));
  return plan.places[side].flatMap((place, index) => {
    const token = { side, index };
    const isShown = same(token, shown);
    const link = shown?.side === OTHER[side]
      ? own.find((partner) => partner[side] === index) : undefined;
    const full = !shown || isShown || link;
    return [
      // a link from one pair of lines to the next runs behind the words
      ...(plan.many ? [rect({ ...boxOf(place), fill: theme.paper })] : []),
      ...(same(token, at) ? [rect({ ...boxOf(place), fill: theme.ink, opacity: 0.08 })] : []),
      ...(same(token, pinned) ? [stem(scene, place, side)] : []),
      text({
        ...textAt(plan, place, side), text: isolate(place.text), size: plan.font, middle: true,
        weight: shown && full ? 600 : 400, fill: linked.has(index) ? theme.ink : theme.quiet,
        opacity: full ? 1 : FADED.word,
      }),
      ...(link ? [numberAt(scene, place, side, link.strength)] : []),
    ];
  });
}

/** @param {Place} place */
const boxOf = ({ x, y, width, height }) => ({ x, y: y + 1, width, height: height - 2 });

/** @param {LinkPlan} plan @param {Place} place @param {Side} side */
function textAt({ columns }, { x, y, width, height }, side) {
  const middle = y + height / 2 + 0.5;
  if (!columns) return /** @type {const} */ ({ x: x + width / 2, y: middle, anchor: "middle" });
  return side === "source"
    ? /** @type {const} */ ({ x: x + width - EDGE, y: middle, anchor: "end" })
    : /** @type {const} */ ({ x: x + EDGE, y: middle, anchor: "start" });
}

/**
 * The strength at a partner, on its side away from the links.
 * @param {LinkScene} scene
 * @param {Place} place
 * @param {Side} side
 * @param {number} strength
 */
function numberAt({ plan, theme, measure }, place, side, strength) {
  const { x, y, width, height } = place;
  const written = { text: digits(strength), size: NUMBER.font, middle: true, fill: theme.ink };
  if (plan.columns) {
    const away = 1.5 * EDGE + measure(place.text, plan.font, 600);
    return side === "source"
      ? text({ ...written, x: x + width - away, y: y + height / 2 + 0.5, anchor: "end" })
      : text({ ...written, x: x + away, y: y + height / 2 + 0.5, anchor: "start" });
  }
  const outside = side === "source" ? y - NUMBER.height / 2 : y + height + NUMBER.height / 2;
  return text({ ...written, x: x + width / 2, y: outside, anchor: "middle" });
}

/** Draw a bar at the pinned word.
 * @param {LinkScene} scene @param {Place} place
 * @param {Side} side */
function stem({ plan, theme }, { x, y, width, height }, side) {
  const first = side === "source";
  const box = plan.columns
    ? { x: first ? x : x + width - 3, y: y + 3, width: 3, height: height - 6 }
    : { x: x + 2, y: first ? y - 1 : y + height - 2, width: width - 4, height: 3 };
  return rect({ ...box, fill: theme.ink });
}
