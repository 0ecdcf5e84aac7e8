// The tree as marks: a line under each row, as wide at a piece as that is probable, and the pieces
// on it.

import { mixed } from "../core/color.js";
import { circle, group, path, rect, text } from "../core/scene.js";
import { isolate, tidy } from "../core/text.js";
import { pathTo } from "./data.js";
import { isMark, MARK, NUMBERS, ROOT, ROW, scoreText, SMALL } from "./plan.js";

/** @import { Mark } from "../core/scene.js" */
/** @import { Theme } from "../core/theme.js" */
/** @import { Place, TreePlan } from "./plan.js" */

const ACCENT = "#E69F00"; // Okabe and Ito's orange: no kind of attention has it
const LIT = { share: { light: 0.42, dark: 0.55 }, line: 11, pad: 4 }; // a path that is pointed at
const LINE = { thinnest: 1, widest: 5 };
const SHARE = { leads: 0.62, ends: 0.34, dropped: 0.24 }; // of ink in a line
const HALO = 5; // of paper at both sides of a line where it crosses another, together
const ROUND = 5;
const EVERY = 5; // every fifth step has its number

/**
 * @typedef {object} TreeScene
 * @property {import("./data.js").TreeData} data
 * @property {TreePlan} plan
 * @property {Theme} theme
 * @property {number | null} at under the pointer or the cursor
 * @property {import("../core/picture_view.js").Visible} visible
 */

/** @param {TreeScene} scene @returns {Mark[]} */
export function treeMarks(scene) {
  const { data, plan, at, theme, visible } = scene;
  /** @param {number} n */
  const inSight = (n) => {
    const { x, end, bend, width } = placeOf(scene, n);
    return (bend ?? x) - ROOT < visible.x + visible.width
      && Math.max(end, x + width) + ROUND > visible.x;
  };
  const drawn = plan.rows.flat().filter(inSight).reverse(); // the translation last, so over others
  const lit = at === null ? [] : pathTo(data, at);
  const { leads } = plan.course;
  const bent = drawn.filter((n) => placeOf(scene, n).bend !== null)
    .sort((a, b) => Number(leads[a]) - Number(leads[b]));
  return [group([
    ...numbers(scene),
    ...lit.flatMap((n, nth) => (inSight(n) ? light(scene, n, lit[nth + 1]) : [])),
    ...drawn.flatMap((n) => grounds(scene, n)),
    ...drawn.flatMap((n) => along(scene, n, lookOf(scene, n))),
    ...bent.flatMap((n) => gap(scene, n)),
    ...lit.flatMap((n) => (inSight(n) ? across(scene, n, litLook(theme)) : [])),
    ...bent.flatMap((n) => across(scene, n, lookOf(scene, n))),
    circle({ x: ROOT / 2, y: NUMBERS + ROW.line, radius: 3.5, fill: theme.ink }),
    ...outline(scene),
    ...drawn.flatMap((n) => words(scene, n, lit.includes(n))),
  ], { x: -visible.x, y: -visible.y })];
}

/** @param {TreeScene} scene @param {number} n */
const placeOf = ({ plan }, n) => /** @type {Place} */ (plan.places[n]);

/** @param {TreeScene} scene @returns {Mark[]} */
const numbers = ({ plan: { columns }, theme }) => columns.flatMap((x, step) =>
  (step === 1 || (step && step % EVERY === 0)
    ? [text({
      text: step === 1 ? "step 1" : String(step), x, y: 7, middle: true, size: SMALL,
      fill: theme.quiet,
    })] : []));

/** The style of a line. @typedef {{stroke: string, line: number}} Look */

/** @param {Theme} theme @returns {Look} */
const litLook = ({ name, paper }) =>
  ({ stroke: mixed(ACCENT, paper, LIT.share[name]), line: LIT.line });

/** @param {TreeScene} scene @param {number} n @returns {Look} */
function lookOf({ data: { nodes }, plan: { course }, theme: { ink, paper } }, n) {
  const { logProb, state } = nodes[n];
  if (state === "dropped" && !course.top[n]) {
    return { stroke: mixed(ink, paper, SHARE.dropped), line: 1 };
  }
  const probability = Math.min(1, Math.exp(logProb));
  const line = tidy(LINE.thinnest + probability * (LINE.widest - LINE.thinnest));
  const share = course.leads[n] ? SHARE.leads : SHARE.ends;
  return { stroke: course.top[n] ? ink : mixed(ink, paper, share), line };
}

/**
 * Highlight a piece on the way to the node under the pointer.
 * @param {TreeScene} scene
 * @param {number} n
 * @param {number} [next] piece on the way
 */
function light(scene, n, next) {
  const { x, width } = placeOf(scene, n);
  const to = next === undefined ? x + width : placeOf(scene, next).bend ?? placeOf(scene, next).x;
  return along(scene, n, litLook(scene.theme), to);
}

/**
 * Draw the line under a piece.
 * @param {TreeScene} scene
 * @param {number} n
 * @param {Look} look
 * @param {number} [end]
 */
function along(scene, n, look, end = endOf(scene, n)) {
  const { x, y } = placeOf(scene, n);
  const from = scene.plan.course.top[n] && scene.data.nodes[n].parent < 0 ? ROOT / 2 : x;
  return [path({ d: `M${from},${y + ROW.line}H${end}`, ...look })];
}

/** Find where a line ends: in the mark of a hypothesis, if there is one.
 * @param {TreeScene} scene @param {number} n */
function endOf(scene, n) {
  const { x, end, label } = placeOf(scene, n);
  if (scene.data.nodes[n].score === null) return end;
  return x + label + (label && MARK.before) + MARK.width / 2;
}

/**
 * Draw the line from the row of the parent to the piece's own.
 * @param {TreeScene} scene
 * @param {number} n
 * @param {Look} look
 * @returns {Mark[]}
 */
function across(scene, n, look) {
  const { x, bend } = placeOf(scene, n);
  if (bend === null) return [];
  const { from, to, round } = turn(scene, n);
  const turned = `Q${bend},${to} ${bend + ROUND},${to}`;
  return [path({ d: `M${bend},${from}V${to - round}${turned}H${x}`, ...look })];
}

/** Clear paper around a line where it crosses other rows.
 * @param {TreeScene} scene @param {number} n
 * @returns {Mark[]} */
function gap(scene, n) {
  const bend = /** @type {number} */ (placeOf(scene, n).bend);
  const { from, to, round } = turn(scene, n);
  const { line } = lookOf(scene, n);
  const d = `M${bend},${from + round}V${to - 2 * round}`;
  return [path({ d, stroke: scene.theme.paper, line: line + HALO })];
}

/** From which height to which a line goes: from the edge of the parent's.
 * @param {TreeScene} scene @param {number} n */
function turn(scene, n) {
  const { parent } = scene.data.nodes[n];
  const above = (parent < 0 ? NUMBERS : placeOf(scene, parent).y) + ROW.line;
  const to = placeOf(scene, n).y + ROW.line;
  const down = Math.sign(to - above);
  const from = above + (parent < 0 ? 0 : down * lookOf(scene, parent).line / 2);
  return { from: tidy(from), to, round: down * ROUND };
}

/** Draw the ground of a piece. @param {TreeScene} scene @param {number} n @returns {Mark[]} */
function grounds(scene, n) {
  const { data, theme, at } = scene;
  const { x, y, width } = placeOf(scene, n);
  const box = boxOf(x, y, width);
  return [
    ...(data.nodes[n].state === "forced" ? [rect({ ...box, fill: theme.ink, opacity: 0.1 })] : []),
    ...(n === at ? [rect({ ...box, fill: litLook(theme).stroke })] : []),
  ];
}

/** Outline the chosen piece. @param {TreeScene} scene @returns {Mark[]} */
function outline({ data: { chosen }, plan, theme }) {
  if (chosen === null) return [];
  const { x, y, width } = /** @type {Place} */ (plan.places[chosen]);
  return [rect({ ...boxOf(x, y, width), stroke: theme.ink, line: 1.5 })];
}

/** @param {number} x @param {number} y @param {number} width */
const boxOf = (x, y, width) =>
  ({ x: x - LIT.pad, y, width: width + 2 * LIT.pad, height: ROW.line - 3 });

/**
 * Write a piece, and the mark of a hypothesis that ends with it.
 * @param {TreeScene} scene
 * @param {number} n
 * @param {boolean} isLit
 * @returns {Mark[]}
 */
function words({ data, plan: { places, course, font }, theme }, n, isLit) {
  const node = data.nodes[n];
  const { x, y, label } = /** @type {Place} */ (places[n]);
  const fill = isLit || course.leads[n] ? theme.ink : theme.quiet;
  const weight = course.top[n] ? 600 : 400;
  /** @type {Mark[]} */
  const marks = isMark(node) ? [] : [text({
    text: isolate(node.label), x, y: y + ROW.middle, middle: true, fill, weight,
    size: node.state === "dropped" ? SMALL : font,
  })];
  if (node.score === null) return marks;
  const mark = x + label + (label && MARK.before);
  return [
    ...marks,
    circle({ x: mark + MARK.width / 2, y: y + ROW.line, radius: MARK.width / 2, fill }),
    text({
      text: scoreText(node.score), x: mark + MARK.width + MARK.after, y: y + ROW.line,
      middle: true, size: SMALL, fill, weight,
    }),
  ];
}
