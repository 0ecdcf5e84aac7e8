// Figure 1 with a sentence in it: one picture, and over each box a transparent button, which has
// the focus, the name and the outline. Opening a box is the host's business; it hears its name.

import { paint, sized } from "../core/canvas.ts";
import { mixed, rasterOf } from "../core/color.ts";
import { isShortcut, make } from "../core/dom.ts";
import { heightInSight } from "../core/picture_view.ts";
import { SHARP } from "../core/save.ts";
import { circle, path, picture, rect, text } from "../core/scene.ts";
import { View } from "../core/view.ts";
import { INSIDE, nextBox, planModel, SKIP } from "./plan.ts";
import { Playback } from "./playback.ts";

/** @import { Mark, Place } from "../core/scene.ts" */
/** @import { Theme } from "../core/theme.ts" */
/** @import { ModelBox, ModelData, ModelPlan, Point } from "./plan.ts" */

/**
 * @typedef {object} ModelScene
 * @property {ModelData} data
 * @property {ModelPlan} plan
 * @property {Theme} theme
 * @property {number} ratio pixels for one unit of the plan
 *
 * @typedef {(scene: ModelScene, box: ModelBox, place: Place) => Mark[]} BoxMarks
 */

const ROUND = { frame: 10, box: 5, line: 6 }; // radii of corners
const NAME = 13; // letters over a frame
const SKIPPED = 11; // letters beside the dots of layers that are not drawn
const STRIPE = 2; // at the top of an attention's box, in the colour of its kind
// shares of ink in paper, and of a kind's colour
const INK = { line: 0.55, residual: 0.32, head: 0.62, frame: 0.03, edge: 0.3, kind: 0.14 };

/** @param {ModelScene} scene @returns {Mark[]} */
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
    ...plan.skipped.flatMap(({ x, y, ...words }) => [
      rect({ x: x - 2, y, width: 4, height: SKIP, fill: theme.paper }),
      ...[2, 5, 8].map((down) => circle({ x, y: y + down, radius: 1.1, fill: ink(INK.head) })),
      text({
        ...words, x: x + (words.anchor === "start" ? 8 : -8), y: y + SKIP - 1, size: SKIPPED,
        fill: theme.quiet,
      }),
    ]),
    ...data.boxes.flatMap((box) => {
      const place = plan.boxes[box.name];
      return [...panelMarks(scene, box, place), ...wordMarks(scene, box, place),
        ...stripMarks(scene, box, place)];
    }),
  ];
}

/** Name the layer over the frame of a stack.
 * @param {ModelScene} scene @param {Place & {stack: string}} frame */
function frameName({ data: { layer, layers }, plan, theme }, { stack, x, y, width }) {
  const name = `layer ${layer[stack] + 1}`;
  return text({
    text: plan.narrow ? `${name} of ${layers[stack]}` : `${layers[stack]} × · ${name} is drawn`,
    ...(stack === "encoder" ? { x } : { x: x + width, anchor: "end" }),
    y: y - 7, size: NAME, fill: theme.quiet,
  });
}

/** Draw a box: its edge, the stripe of its kind, and its ground. @type {BoxMarks} */
function panelMarks({ theme: { ink, paper } }, { color }, { x, y, width, height }) {
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

/** Write the title of a box, and its shape beside it or under it. @type {BoxMarks} */
function wordMarks({ plan: { layout }, theme }, { title, shape }, { x, y, width }) {
  const { letters: size, feet: [first, second] } = layout;
  const room = width - 2 * INSIDE;
  return [
    text({
      text: title, x: x + INSIDE, y: y + first, size, weight: 600, room, fill: theme.ink,
    }),
    ...(second ? [text({
      text: shape, y: y + second, size, room, fill: theme.quiet,
      ...(first === second ? { x: x + width - INSIDE, anchor: "end" } : { x: x + INSIDE }),
    })] : []),
  ];
}

/** Draw the maps of the heads side by side, or one strip over the whole width. @type {BoxMarks} */
function stripMarks({ data, plan, theme, ratio }, box, place) {
  const { maps, rows, columns, values, kind } = box;
  const { side, apart } = plan.map;
  const [width, height] = kind ? [side, side] : [place.width - 2 * INSIDE, plan.layout.high];
  const colors = data.palettes[kind ?? "difference"][theme.name];
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

/** Draw a line through points with round corners. @param {Point[]} points */
export function lineThrough(points) {
  const last = points.length - 1;
  return points.map((point, n) => {
    if (!n) return `M${point}`;
    if (n === last) return `L${point}`;
    return `L${towards(point, points[n - 1])}Q${point} ${towards(point, points[n + 1])}`;
  }).join("");
}

/** Find where a corner begins on the way to a neighbour.
 * @param {Point} corner @param {Point} other */
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

/** Draw a rectangle with round corners. @param {Place} place @param {number} radius */
export function roundedBox({ x, y, width, height }, radius) {
  const [right, foot] = [x + width, y + height];
  /** @param {number} toX @param {number} toY */
  const corner = (toX, toY) => `A${radius} ${radius} 0 0 1 ${toX} ${toY}`;
  return `M${x + radius} ${y}H${right - radius}${corner(right, y + radius)}`
    + `V${foot - radius}${corner(right - radius, foot)}`
    + `H${x + radius}${corner(x, foot - radius)}V${y + radius}${corner(x + radius, y)}Z`;
}

const DESCRIPTION = "The Transformer of Figure 1. The encoder stands on the left, the decoder on "
  + "the right; both are read from the foot up; layers that are not drawn are dots. "
  + "Each box is a button that opens it; arrow keys move from box to box.";
const LEGEND = ["Strips: tokens × features, olive below 0, purple above 0; each has its own scale.",
  "Small maps: one per head, 0 to 1; each row attends to the columns."];
const AROUND = 225; // bar, findings, controls and foot, CSS pixels

/** @extends {View<import("./plan.ts").ModelData>} */
export class Architecture extends View {
  static sends = true;

  /** @param {import("../core/wire.ts").Message} message @returns {ModelData} */
  static read({ meta, arrays, shapes }) {
    /** @param {string} name */
    const palette = (name) =>
      [name, { light: arrays[`${name}.light`], dark: arrays[`${name}.dark`] }];
    /** @param {Pick<ModelBox, "name">} box */
    const whole = (box) => {
      const [maps, rows, columns] = shapes[box.name] ?? [0, 0, 0];
      return { ...box, maps, rows, columns, values: arrays[box.name] ?? new Uint8Array() };
    };
    const palettes = Object.fromEntries(meta.palettes.map(palette));
    return { ...meta, boxes: meta.boxes.map(whole), palettes };
  }

  constructor() {
    super();
    this.root.setAttribute("aria-label", DESCRIPTION);
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.box = make("div", { class: "hl-arch" }, this.canvas);
    this.key = make("div", { class: "hl-arch-key" }, LEGEND.join(" "));
    const foot = make("div", { class: "hl-foot" }, this.saveButtons());
    this.playback = new Playback(this);
    this.root.append(this.playback.panel, this.box, this.key, foot, this.live);
    /** @type {Map<string, HTMLButtonElement>} */
    this.buttons = new Map(); // by the box's name
    /** @type {import("./plan.ts").ModelPlan} */
    this.plan;
    this.box.addEventListener("click", ({ target }) => this.pick(target));
    this.box.addEventListener("keydown", (event) => this.onKey(event));
  }

  remove() {
    this.playback.remove();
    super.remove();
  }

  /** Buttons that stay are the same elements as before, so focus stays. */
  update() {
    const { boxes, selected } = this.data;
    const names = boxes.map(({ name }) => name);
    if (names.join() !== [...this.buttons.keys()].join()) {
      this.buttons = new Map(names.map((name) =>
        [name, make("button", { type: "button", class: "hl-box", name })]));
      this.box.replaceChildren(this.canvas, ...this.buttons.values());
    }
    for (const { name, label, color } of boxes) {
      this.buttons.get(name)?.setAttribute("aria-label", label);
      this.buttons.get(name)?.style.setProperty("--hl-kind", color);
    }
    this.select(selected);
    this.playback.update(this.data);
  }

  /** @param {number} width */
  arrange(width) {
    this.plan = planModel(this.data.boxes, width, heightInSight(AROUND), this.measure,
      this.data);
    this.box.style.height = `${this.plan.height}px`;
    for (const [name, { style }] of this.buttons) {
      const { x, y, width: wide, height } = this.plan.boxes[name];
      Object.assign(style,
        { left: `${x}px`, top: `${y}px`, width: `${wide}px`, height: `${height}px` });
    }
    this.playback.arrange(this.plan);
  }

  draw() {
    const { width, height } = this.plan;
    const context = sized(this.canvas, width, height);
    paint(context, this.marks(this.canvas.width / width), this.theme.font);
  }

  /** @param {number} ratio */
  marks(ratio) {
    const { data, plan, theme } = this;
    return modelMarks({ data, plan, theme, ratio });
  }

  sheet() {
    const { data: { layer, layers }, plan: { width, height } } = this;
    const drawn = Object.keys(layers).map((stack) =>
      `layer ${layer[stack] + 1} of ${layers[stack]}`);
    const same = new Set(drawn).size === 1;
    return {
      title: `Transformer, ${same ? drawn[0] : `encoder ${drawn[0]}, decoder ${drawn[1]}`}`,
      width, height,
      marks: this.marks(SHARP),
      legend: LEGEND,
    };
  }

  /** @param {string} name */
  select(name) {
    const root = /** @type {Document | ShadowRoot} */ (this.box.getRootNode());
    const { activeElement } = root;
    const inside = this.box.contains(activeElement);
    for (const [box, button] of this.buttons) {
      button.setAttribute("aria-pressed", String(box === name));
      button.tabIndex = (inside ? button === activeElement : box === name) ? 0 : -1;
    }
  }

  /** @param {EventTarget | null} target */
  pick(target) {
    const box = this.data.boxes.find(({ name }) => this.buttons.get(name) === target);
    if (!box) return;
    this.select(box.name); // at once: the answer from Python would be a moment late
    const step = this.playback.stepOf(box.name);
    if (step >= 0) this.playback.go(step);
    this.live.textContent = `Open: ${box.label}`;
    this.options.onSelect?.(box.name);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    if (isShortcut(event) || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const { name } = /** @type {HTMLButtonElement} */ (event.target);
    const next = nextBox(this.plan.boxes, name, event.key);
    if (!next) return;
    for (const [box, button] of this.buttons) button.tabIndex = box === next ? 0 : -1;
    this.buttons.get(next)?.focus();
  }
}
