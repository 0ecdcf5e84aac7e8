// The inside of a head as marks: strips of values, numbers and bars.

import { EDGE } from "../core/picture_view.js";
import { signedRaster } from "../core/raster.js";
import { picture, rect, text } from "../core/scene.js";
import { fixed, isolate } from "../core/text.js";
import { isMade, LETTERS } from "./plan.js";

/** @import { Mark } from "../core/scene.js" */
/** @import { Theme } from "../core/theme.js" */
/** @import { InsidePlan, Part } from "./plan.js" */

const PAST = 0.55; // opacity of what an earlier step has made
const TO_COME = 0.3; // of the name of what a later step will make
const NUMBERS = 50; // room right of the longest bar, CSS pixels
const POINTED = 0.07; // opacity of the row that is pointed at

/**
 * @typedef {object} InsideScene
 * @property {import("./data.js").InsideData} data
 * @property {InsidePlan} plan
 * @property {Theme} theme
 * @property {number} step 0 for all
 * @property {number} ratio pixels of the screen for one unit of the plan
 */

/**
 * All but what the pointer adds: made once for a step, and drawn again as it is.
 * @param {InsideScene} scene
 * @returns {Mark[]}
 */
export const insideMarks = (scene) => [
  ...keyWords(scene),
  ...scene.plan.parts.flatMap((part) => partMarks(scene, part)),
];

/**
 * Mark the row of the key under the pointer.
 * @param {InsidePlan} plan
 * @param {Theme} theme
 * @param {number} row
 */
export const rowMark = ({ top, row: height, width }, theme, row) => rect({
  x: 0, y: (top ?? 0) + row * height, width, height, fill: theme.ink, opacity: POINTED,
});

/** @param {InsideScene} scene @returns {Mark[]} */
function keyWords({ data, plan, theme }) {
  const { left, top } = plan;
  return top == null ? [] : data.keys.map((token, n) => text({
    text: isolate(token), x: left - EDGE, y: top + (n + 0.5) * plan.row, room: left,
    anchor: "end", middle: true, size: sizeOf(plan), fill: theme.ink,
  }));
}

/** Compute the size of letters that fit into a row. @param {InsidePlan} plan */
const sizeOf = (plan) => Math.min(LETTERS, plan.row - 2);

/**
 * @param {InsideScene} scene
 * @param {Part} part
 * @returns {Mark[]}
 */
function partMarks(scene, part) {
  const { step } = scene;
  const made = isMade(part, step);
  const opacity = !step || part.step === step ? 1 : made ? PAST : TO_COME;
  const marks = [...names(scene, part), ...(made ? contents(scene, part) : [])];
  return opacity === 1 ? marks : marks.map((mark) => ({ ...mark, opacity }));
}

/** @param {InsideScene} scene @param {Part} part @returns {Mark[]} */
function names({ plan, theme, step }, { x, y, height, heading, label, step: own }) {
  /** @type {{size: number, weight: 400 | 600, middle: true, fill: string}} */
  const style = {
    size: LETTERS, weight: step && own === step ? 600 : 400, middle: true, fill: theme.ink,
  };
  const beside = x - EDGE;
  return [
    ...(heading ? [text({ text: heading, x, y: y - 12, ...style })] : []),
    ...(label ? [text({
      text: isolate(label), x: beside, y: y + height / 2, room: Math.max(plan.left, beside),
      anchor: "end", ...style,
    })] : []),
  ];
}

/** @param {InsideScene} scene @param {Part} part @returns {Mark[]} */
function contents(scene, part) {
  const { arrays } = scene.data;
  switch (part.name) {
    case "dots": case "scaled":
      return numbers(scene, part, 52, (n) => short(arrays[part.name][n]));
    case "seen": return numbers(scene, part, 28, (n) => (arrays.seen[n] ? "+ 0" : "− ∞"));
    case "weights": return bars(scene, part);
    case "norms": return norms(scene, part);
    default: return strip(scene, part);
  }
}

/**
 * Draw values as colours, with hairlines between rows.
 * @param {InsideScene} scene
 * @param {Part} part
 * @returns {Mark[]}
 */
function strip(scene, part) {
  const { data, theme, ratio } = scene;
  const { name, x, y, width, height, rows, columns } = part;
  const colors = data.palette[theme.name];
  const raster = signedRaster(data.arrays[name], columns, rows, colors, data.ends[name] ?? 1);
  const lines = Array.from({ length: rows - 1 }, (_, n) => rect({
    x, y: y + ((n + 1) * height) / rows - 0.5, width, height: 1, fill: theme.paper,
  }));
  const values = picture({ raster, x, y, width, height, smooth: columns > width * ratio });
  return [values, ...lines, ...(name === "concat" ? headMarks(scene, part) : [])];
}

/** Draw lines between the heads, and a frame around this head.
 * @param {InsideScene} scene @param {Part} part @returns {Mark[]} */
function headMarks({ data, theme }, { x, y, width, height }) {
  const [heads] = data.shapes.concat;
  const own = width / heads;
  return [
    ...Array.from({ length: heads - 1 }, (_, n) => rect({
      x: x + (n + 1) * own - 1, y, width: 2, height, fill: theme.paper,
    })),
    rect({ x: x + data.head * own, y, width: own, height, stroke: theme.ink, line: 2 }),
  ];
}

/**
 * Write a text for each key.
 * @param {InsideScene} scene
 * @param {Part} part
 * @param {number} end where the texts end, right of the part's beginning
 * @param {(n: number) => string} words
 * @returns {Mark[]}
 */
const numbers = ({ data, plan, theme }, { x, y }, end, words) => data.keys.map((_, n) => text({
  text: words(n), x: x + end, y: middle(plan, y, n), anchor: "end", middle: true,
  size: sizeOf(plan), fill: theme.ink,
}));

/** @param {InsidePlan} plan @param {number} top @param {number} n */
const middle = (plan, top, n) => top + (n + 0.5) * plan.row + 0.5;

/** @param {InsideScene} scene @param {Part} part @returns {Mark[]} */
const bars = ({ data, plan, theme }, { x, y, width }) => data.keys.flatMap((_, n) => {
  const weight = data.arrays.weights[n];
  const long = weight * (width - NUMBERS);
  return [
    rect({ x, y: y + n * plan.row + 2, width: long, height: plan.row - 4, fill: data.color }),
    text({
      text: share(weight), x: x + long + 5, y: middle(plan, y, n), middle: true,
      size: sizeOf(plan), fill: theme.ink,
    }),
  ];
});

/** Draw a bar under each head's part of the strip above: how much it adds.
 * @param {InsideScene} scene @param {Part} part @returns {Mark[]} */
function norms({ data, theme }, { x, y, width, height }) {
  const { norms: lengths } = data.arrays;
  const most = Math.max(...lengths) || 1;
  const wide = width / lengths.length;
  return [...lengths].flatMap((norm, head) => {
    const own = head === data.head;
    const high = (norm / most) * (height - 16);
    return [
      rect({
        x: x + head * wide + 3, y, width: wide - 6, height: high,
        fill: own ? data.color : theme.line,
      }),
      text({
        text: `H${head + 1}  ${norm.toFixed(2)}`, x: x + (head + 0.5) * wide, y: y + high + 9,
        anchor: "middle", middle: true, size: Math.min(12, wide / 3), weight: own ? 600 : 400,
        fill: theme.ink, room: wide - 4,
      }),
    ];
  });
}

/** Write two decimals with a real minus sign. @param {number} value */
const short = (value) => fixed(value, Math.abs(value) < 99.995 ? 2 : 0);

/** @param {number} weight */
const share = (weight) =>
  (weight === 0 ? "0" : weight < 0.0005 ? "< 0.001" : weight.toFixed(3));
