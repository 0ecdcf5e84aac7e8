// Figure 1 as marks: frames, lines, and boxes with their words and with what flows through them.

import { mixed } from "../core/color.js";
import { rasterOf } from "../core/raster.js";
import { path, picture, text } from "../core/scene.js";
import { colorsOf } from "./data.js";
import { INSIDE } from "./plan.js";

/** @import { Mark } from "../core/scene.js" */
/** @import { Theme } from "../core/theme.js" */
/** @import { ModelBox, ModelData } from "./data.js" */
/** @import { ModelPlan, Place, Point } from "./plan.js" */

/**
 * @typedef {object} ModelScene
 * @property {ModelData} data
 * @property {ModelPlan} plan
 * @property {Theme} theme
 * @property {number} ratio pixels for one unit of the plan
 */

const ROUND = { frame: 10, box: 5, line: 6 }; // radii of corners
const NAME = 13; // letters over a frame
const STRIPE = 2; // at the top of an attention's box, in the colour of its kind
// shares of ink in paper, and of a kind's colour
const INK = { line: 0.55, residual: 0.32, head: 0.62, frame: 0.03, edge: 0.3, kind: 0.14 };

/**
 * @param {ModelScene} scene
 * @returns {Mark[]}
 */
export function modelMarks(scene) {
  const { data, plan, theme } = scene;
  /** @param {number} share */
  const ink = (share) => mixed(theme.ink, theme.paper, share);
  const { memoryColor } = data;
  const strokes = {
    flow: { stroke: ink(INK.line), line: 1.5 },
    residual: { stroke: ink(INK.residual), line: 1.5 },
    memory: { stroke: memoryColor, line: 2 },
  };
  return [
    ...plan.frames.map((frame) =>
      path({ d: roundedBox(frame, ROUND.frame), fill: ink(INK.frame), stroke: theme.line })),
    ...plan.lines.map(({ points, carries }) =>
      path({ d: lineThrough(points), ...strokes[carries] })),
    ...plan.lines.filter(({ arrow }) => arrow).map(({ points, carries }) =>
      path({ d: headOf(points), fill: carries === "memory" ? memoryColor : ink(INK.head) })),
    ...plan.frames.map((frame) => frameName(scene, frame)),
    ...data.boxes.flatMap((box) => boxMarks(scene, box, plan.boxes[box.name])),
  ];
}

/**
 * Name the layer over the frame of a stack.
 * @param {ModelScene} scene
 * @param {Place & {stack: string}} frame
 */
function frameName({ data: { layer, layers }, plan, theme }, { stack, x, y, width }) {
  const name = `layer ${layer + 1}`;
  return text({
    text: plan.narrow ? `${name} of ${layers}` : `${layers} × · ${name} is drawn`,
    ...(stack === "encoder" ? { x } : { x: x + width, anchor: "end" }),
    y: y - 7, size: NAME, fill: theme.quiet,
  });
}

/**
 * @param {ModelScene} scene
 * @param {ModelBox} box
 * @param {Place} place
 * @returns {Mark[]}
 */
function boxMarks(scene, box, place) {
  return [...panelMarks(scene.theme, box, place), ...wordMarks(scene, box, place),
    ...stripMarks(scene, box, place)];
}

/**
 * Draw a box: its edge, the stripe of its kind, and its ground.
 * @param {Theme} theme
 * @param {ModelBox} box
 * @param {Place} place
 * @returns {Mark[]}
 */
function panelMarks({ ink, paper }, { color }, { x, y, width, height }) {
  /** @param {number} top @param {string} fill */
  const inner = (top, fill) => path({
    d: roundedBox({ x: x + 1, y: y + 1 + top, width: width - 2, height: height - 2 - top },
      ROUND.box - 1),
    fill,
  });
  const edge = path({
    d: roundedBox({ x, y, width, height }, ROUND.box), fill: mixed(ink, paper, INK.edge),
  });
  return color ? [edge, inner(0, color), inner(STRIPE, mixed(color, paper, INK.kind))]
    : [edge, inner(0, paper)];
}

/**
 * Write the title of a box, and its shape beside it or under it.
 * @param {ModelScene} scene
 * @param {ModelBox} box
 * @param {Place} place
 * @returns {Mark[]}
 */
function wordMarks({ plan: { layout }, theme }, { title, shape }, { x, y, width }) {
  const { letters: size, feet: [first, second] } = layout;
  const room = width - 2 * INSIDE;
  return [
    text({
      text: title, x: x + INSIDE, y: y + first, size, weight: 600, room, fill: theme.ink,
    }),
    text({
      text: shape, y: y + second, size, room, fill: theme.quiet,
      ...(first === second ? { x: x + width - INSIDE, anchor: "end" } : { x: x + INSIDE }),
    }),
  ];
}

/**
 * Draw the maps of the heads side by side, or one strip over the whole width.
 * @param {ModelScene} scene
 * @param {ModelBox} box
 * @param {Place} place
 * @returns {Mark[]}
 */
function stripMarks({ data, plan, theme, ratio }, box, place) {
  const { maps, rows, columns, values, kind } = box;
  const { side, apart } = plan.map;
  const [width, height] = kind ? [side, side] : [place.width - 2 * INSIDE, plan.layout.high];
  const colors = colorsOf(data, box, theme.name);
  return Array.from({ length: maps }, (_, map) => {
    const first = map * rows * columns;
    return picture({
      x: place.x + INSIDE + map * (width + apart), y: place.y + plan.layout.strip, width, height,
      raster: rasterOf(columns, rows, colors, (n) => values[first + n]),
      smooth: columns > width * ratio,
    });
  });
}

const HEAD = { length: 6, half: 3.5 };

/**
 * Draw a line through points with round corners.
 * @param {Point[]} points
 */
export function lineThrough(points) {
  const last = points.length - 1;
  return points.map((point, n) => {
    if (!n) return `M${point}`;
    if (n === last) return `L${point}`;
    return `L${towards(point, points[n - 1])}Q${point} ${towards(point, points[n + 1])}`;
  }).join("");
}

/**
 * Find where a corner begins on the way to a neighbour.
 * @param {Point} corner
 * @param {Point} other
 */
function towards([x, y], other) {
  const [dx, dy] = [other[0] - x, other[1] - y];
  const share = Math.min(ROUND.line / Math.hypot(dx, dy), 0.5);
  return [x + dx * share, y + dy * share];
}

/** Draw the head of an arrow at the end of a line. @param {Point[]} points */
export function headOf(points) {
  const [[fromX, fromY], [x, y]] = points.slice(-2);
  const length = Math.hypot(x - fromX, y - fromY);
  const [along, across] = [(x - fromX) / length, (y - fromY) / length];
  /** @param {1 | -1} side */
  const corner = (side) => [
    x - HEAD.length * along - side * HEAD.half * across,
    y - HEAD.length * across + side * HEAD.half * along,
  ];
  return `M${[x, y]}L${corner(1)}L${corner(-1)}Z`;
}

/**
 * Draw a rectangle with round corners.
 * @param {Place} place
 * @param {number} radius
 */
export function roundedBox({ x, y, width, height }, radius) {
  const [right, foot] = [x + width, y + height];
  /** @param {number} toX @param {number} toY */
  const corner = (toX, toY) => `A${radius} ${radius} 0 0 1 ${toX} ${toY}`;
  return `M${x + radius} ${y}H${right - radius}${corner(right, y + radius)}`
    + `V${foot - radius}${corner(right - radius, foot)}`
    + `H${x + radius}${corner(x, foot - radius)}V${y + radius}${corner(x + radius, y)}Z`;
}
