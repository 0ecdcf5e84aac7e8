// Figure 1 with a sentence in it: one picture, and over each box a transparent button, which has
// the focus, the name and the outline. Opening a box is the host's business; it hears its name.

import { paint, sized } from "../core/canvas.ts";
import { mixed, rasterOf } from "../core/color.ts";
import { isShortcut, make } from "../core/dom.ts";
import { COLOR, paletteOf } from "../core/palette.ts";
import { heightInSight } from "../core/picture_view.ts";
import { SHARP } from "../core/save.ts";
import { circle, type Mark, path, picture, type Place, rect, text } from "../core/scene.ts";
import { View } from "../core/view.ts";
import {
  INSIDE, type ModelBox, type ModelData, type ModelPlan, nextBox, planModel, type Point, SKIP,
} from "./plan.ts";
import { Playback } from "./playback.ts";
import type { Kind } from "../core/trace.ts";

type ModelScene = Pick<Architecture, "data" | "plan" | "theme">
  & { ratio: number }; // pixels for one unit of the plan

const ROUND = { frame: 10, box: 5, line: 6 }; // radii of corners
const NAME = 13; // letters over a frame
const SKIPPED = 11; // letters beside the dots of layers that are not drawn
const STRIPE = 2; // at the top of an attention's box, in the colour of its kind
// shares of ink in paper, and of a kind's colour
const INK = { line: 0.55, residual: 0.32, head: 0.62, frame: 0.03, edge: 0.3, kind: 0.14 };

export function modelMarks(scene: ModelScene): Mark[] {
  const { data, plan, theme } = scene;
  const ink = (share: number) => mixed(theme.ink, theme.paper, share);
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

function frameName(
  { data: { layer, layers }, plan, theme }: ModelScene,
  { stack, x, y, width }: Place & { stack: string },
) {
  const name = `layer ${layer[stack] + 1}`;
  return text({
    text: plan.narrow ? `${name} of ${layers[stack]}` : `${layers[stack]} × · ${name} is drawn`,
    ...(stack === "encoder" ? { x } : { x: x + width, anchor: "end" }),
    y: y - 7, size: NAME, fill: theme.quiet,
  });
}

function panelMarks(
  { theme: { ink, paper } }: ModelScene, { color }: ModelBox, { x, y, width, height }: Place,
): Mark[] {
  const inner = (top: number, fill: string) => path({
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

function wordMarks(
  { plan: { layout }, theme }: ModelScene, { title, shape }: ModelBox, { x, y, width }: Place,
): Mark[] {
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

function stripMarks({ data, plan, theme, ratio }: ModelScene, box: ModelBox, place: Place): Mark[] {
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

export function lineThrough(points: Point[]) {
  const last = points.length - 1;
  return points.map((point, n) => {
    if (!n) return `M${point}`;
    if (n === last) return `L${point}`;
    return `L${towards(point, points[n - 1])}Q${point} ${towards(point, points[n + 1])}`;
  }).join("");
}

function towards([x, y]: Point, other: Point) {
  const [dx, dy] = [other[0] - x, other[1] - y];
  const share = Math.min(ROUND.line / Math.hypot(dx, dy), 0.5);
  return [x + dx * share, y + dy * share];
}

export function headOf(points: Point[]) {
  const [[fromX, fromY], [x, y]] = points.slice(-2);
  const length = Math.hypot(x - fromX, y - fromY);
  const [along, across] = [(x - fromX) / length, (y - fromY) / length];
  const corner = (side: 1 | -1) => [
    x - HEAD.length * along - side * HEAD.half * across,
    y - HEAD.length * across + side * HEAD.half * along,
  ];
  return `M${[x, y]}L${corner(1)}L${corner(-1)}Z`;
}

export function roundedBox({ x, y, width, height }: Place, radius: number) {
  const [right, foot] = [x + width, y + height];
  const corner = (toX: number, toY: number) => `A${radius} ${radius} 0 0 1 ${toX} ${toY}`;
  return `M${x + radius} ${y}H${right - radius}${corner(right, y + radius)}`
    + `V${foot - radius}${corner(right - radius, foot)}`
    + `H${x + radius}${corner(x, foot - radius)}V${y + radius}${corner(x + radius, y)}Z`;
}

const DESCRIPTION = "The Transformer of Figure 1. The encoder stands on the left, the decoder on "
  + "the right; both are read from the foot up; layers that are not drawn are dots. "
  + "Each box is a button that opens it; arrow keys move from box to box.";
const LEGEND = ["Strips: tokens × features, olive below 0, purple above 0; each has its own scale.",
  "Small maps: one per head, 0 to 1; each row attends to the columns."];
const AROUND = 250; // bar, findings, first steps, controls and foot, CSS pixels

export class Architecture extends View<ModelData> {
  static read(message: any): ModelData {
    const kinds = Object.keys(COLOR) as Kind[];
    const palettes = Object.fromEntries(kinds.map((kind) => [kind, paletteOf(kind)]));
    return { ...message, palettes: { ...palettes, difference: paletteOf(null) } };
  }

  canvas = make("canvas", { "aria-hidden": "true" });
  box = make("div", { class: "hl-arch" }, this.canvas);
  key = make("div", { class: "hl-arch-key" }, LEGEND.join(" "));
  playback = new Playback(this);
  buttons = new Map<string, HTMLButtonElement>(); // by the box's name
  opened = ""; // the box whose numbers the host shows
  declare plan: ModelPlan;

  constructor() {
    super();
    this.root.setAttribute("aria-label", DESCRIPTION);
    const foot = make("div", { class: "hl-foot" }, this.saveButtons());
    this.root.append(this.playback.panel, this.box, this.key, foot, this.live);
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
    this.opened = selected;
    this.select(selected);
    this.playback.update(this.data);
  }

  arrange(width: number) {
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

  marks(ratio: number) {
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

  select(name: string) {
    const { activeElement } = this.box.getRootNode() as Document | ShadowRoot;
    const inside = this.box.contains(activeElement);
    for (const [box, button] of this.buttons) {
      button.setAttribute("aria-pressed", String(box === name));
      button.tabIndex = (inside ? button === activeElement : box === name) ? 0 : -1;
    }
  }

  pick(target: EventTarget | null) {
    const box = this.data.boxes.find(({ name }) => this.buttons.get(name) === target);
    if (!box) return;
    const step = this.playback.stepOf(box.name);
    if (step >= 0) this.playback.go(step);
    this.live.textContent = `Open: ${box.label}`;
    this.open(box.name);
  }

  /** Open a box: at once here, and by the host, whose answer comes a moment late. */
  open(name: string) {
    if (name === this.opened) return;
    this.opened = name;
    this.select(name);
    this.options.onSelect?.(name);
  }

  onKey(event: KeyboardEvent) {
    if (isShortcut(event) || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const { name } = event.target as HTMLButtonElement;
    const next = nextBox(this.plan.boxes, name, event.key);
    if (!next) return;
    for (const [box, button] of this.buttons) button.tabIndex = box === next ? 0 : -1;
    this.buttons.get(next)?.focus();
  }
}
