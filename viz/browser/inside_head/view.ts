// The inside of a head: one query word, every number between x and the stream, step by step or as
// one picture of strips, numbers and bars. Steps, play and back are answered without the server.

import { signedRaster } from "../core/color.ts";
import { boxAt, button, fillTable, isStill, make, toolbar } from "../core/dom.ts";
import { paletteOf } from "../core/palette.ts";
import { EDGE, heightInSight, PictureView } from "../core/picture_view.ts";
import { type Mark, picture, rect, text } from "../core/scene.ts";
import { SharedChoice } from "../core/store.ts";
import { figure, fixed, forHand, isolate, quote, within } from "../core/text.ts";
import {
  type ArrayName, type InsideAt, type InsideData, type InsidePlan, isMade, LETTERS, type MathNode,
  type Part, partAt, planInside,
} from "./plan.ts";
import type { Theme } from "../core/theme.ts";

const PAST = 0.55; // opacity of what an earlier step has made
const TO_COME = 0.3; // of the name and the empty place of what a later step will make
const NUMBERS = 50; // room right of the longest bar, CSS pixels
const POINTED = 0.07; // opacity of the row that is pointed at

type InsideScene = Pick<InsideHead, "data" | "plan" | "theme" | "step">
  & { ratio: number }; // pixels of the screen for one unit of the plan

/** Draw all but what the pointer adds: made once for a step, and drawn again as it is. */
export const insideMarks = (scene: InsideScene): Mark[] => [
  ...keyWords(scene),
  ...scene.plan.parts.flatMap((part) => partMarks(scene, part)),
];

export const rowMark = ({ top, row: height, width }: InsidePlan, theme: Theme, row: number) =>
  rect({
    x: 0, y: (top ?? 0) + row * height, width, height, fill: theme.ink, opacity: POINTED,
  });

function keyWords({ data, plan, theme }: InsideScene): Mark[] {
  const { left, top } = plan;
  return top == null ? [] : data.keys.map((token, n) => text({
    text: isolate(token), x: left - EDGE, y: top + (n + 0.5) * plan.row, room: left,
    anchor: "end", middle: true, size: sizeOf(plan), fill: theme.ink,
  }));
}

const sizeOf = (plan: InsidePlan) => Math.min(LETTERS, plan.row - 2);

function partMarks(scene: InsideScene, part: Part): Mark[] {
  const { step } = scene;
  const made = isMade(part, step);
  const opacity = !step || part.step === step ? 1 : made ? PAST : TO_COME;
  const { x, y, width, height } = part;
  const empty = rect({ x, y, width, height, fill: scene.theme.line });
  const marks = [...nameMarks(scene, part), ...(made ? contents(scene, part) : [empty])];
  return opacity === 1 ? marks : marks.map((mark) => ({ ...mark, opacity }));
}

function nameMarks(
  { plan, theme, step }: InsideScene, { x, y, height, heading, label, step: own }: Part,
): Mark[] {
  const style: { size: number; weight: 400 | 600; middle: true; fill: string } = {
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

function contents(scene: InsideScene, part: Part): Mark[] {
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

function strip(scene: InsideScene, part: Part): Mark[] {
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

function headMarks({ data, theme }: InsideScene, { x, y, width, height }: Part): Mark[] {
  const [heads] = data.shapes.concat;
  const own = width / heads;
  return [
    ...Array.from({ length: heads - 1 }, (_, n) => rect({
      x: x + (n + 1) * own - 1, y, width: 2, height, fill: theme.paper,
    })),
    rect({ x: x + data.head * own, y, width: own, height, stroke: theme.ink, line: 2 }),
  ];
}

/** Write a text for each key. @param end where the texts end, right of the part's beginning */
const numbers = (
  { data, plan, theme }: InsideScene, { x, y }: Part, end: number, words: (n: number) => string,
): Mark[] => data.keys.map((_, n) => text({
  text: words(n), x: x + end, y: middle(plan, y, n), anchor: "end", middle: true,
  size: sizeOf(plan), fill: theme.ink,
}));

const middle = (plan: InsidePlan, top: number, n: number) => top + (n + 0.5) * plan.row + 0.5;

const bars = ({ data, plan, theme }: InsideScene, { x, y, width }: Part): Mark[] =>
  data.keys.flatMap((_, n) => {
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

function norms({ data, theme }: InsideScene, { x, y, width, height }: Part): Mark[] {
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

const short = (value: number) => fixed(value, Math.abs(value) < 99.995 ? 2 : 0);

const share = (weight: number) =>
  (weight === 0 ? "0" : weight < 0.0005 ? "< 0.001" : weight.toFixed(3));

const PACE = { least: 2400, letter: 50 }; // ms a step, and of each letter of its sentence
const NARROW = 640; // CSS pixels: the words about a step take more lines
const AROUND = 370; // of the page above the picture, CSS pixels
const PLAY = "▶ Play";
const ACTS = ["pointerdown", "keydown"];
const KEY = "purple: above 0, olive: below"; // of the colours of strips
const WITHOUT_KEY = ["dots", "scaled", "seen", "weights", "norms"];

export class InsideHead extends PictureView<InsideData, InsideAt, InsidePlan> {
  static read(message: any): InsideData {
    return { ...message, palette: paletteOf(null) };
  }

  title = make("h3", { class: "hl-title" });
  chips = make("div", { class: "hl-steps" });
  back = button("◀", () => this.go(this.step - 1), { "aria-label": "One step back" });
  play = button(PLAY, () => (this.timer ? this.stop() : this.start()));
  next = button("▶|", () => this.go(this.step + 1), { "aria-label": "One step on" });
  bar = make("div", { class: "hl-bar", "aria-label": "Steps" }, this.chips,
    make("div", { class: "hl-walk" }, this.back, this.play, this.next));
  enterAt = toolbar(this.bar);
  equation = make("div", { class: "hl-equation", role: "group", "aria-label": "Equation" });
  says = make("div", { "aria-live": "polite" });
  shape = make("div", { class: "hl-quiet" });
  code = make("code");
  shared = new SharedChoice(0);
  onHistory = ({ isTrusted }: PopStateEvent) => isTrusted && this.restore();
  stepButtons: HTMLButtonElement[] = [];
  timer?: ReturnType<typeof setTimeout>; // while it plays
  isUnasked = false; // whether it plays by itself
  hasPlayed = false;
  /** A reader who acts is not played under. */
  onAct = (event: Event) => {
    if (this.isUnasked && !event.composedPath().includes(this.root)) this.stop();
  };
  picture: Mark[] = []; // without what the pointer adds
  heights = { least: 0, width: 0, tallest: 0 };

  constructor() {
    super();
    const explanation = make("div", { class: "hl-told" }, this.equation,
      make("div", {}, this.says, this.shape, this.code));
    this.root.prepend(this.title, this.bar, explanation);
    this.scroll.classList.add("hl-inside");
    // the picture has no keys but those that scroll it: the table says what is in it
    this.scroll.setAttribute("role", "group");
    addEventListener("popstate", this.onHistory);
    for (const name of ACTS) document.addEventListener(name, this.onAct, true);
  }

  remove() {
    this.stop();
    for (const name of ACTS) document.removeEventListener(name, this.onAct, true);
    removeEventListener("popstate", this.onHistory);
    super.remove();
  }

  update() {
    const { data } = this;
    this.follow(data.step);
    this.at = null;
    this.title.textContent = `${data.title} · ${data.query}`;
    this.title.dataset.kind = data.kind;
    this.root.setAttribute("aria-label", this.title.textContent);
    this.scroll.setAttribute("aria-label", `${this.title.textContent}: the picture`);
    this.note.textContent = noteOn(data);
    fillTable(this.table, this.title.textContent,
      tableHead(data), tableRows(data));
    const names = data.steps.map(({ name }) => name);
    if (this.setTexts(names)) { // else the buttons keep the focus
      this.stepButtons = names.map((name, n) => button(name, () => this.go(n)));
      this.chips.replaceChildren(...this.stepButtons);
    }
    this.showStep();
    this.isUnasked ||= data.plays && !this.hasPlayed && !isStill();
    if (this.isUnasked && !this.hasPlayed) this.playOn();
    this.hasPlayed = true;
  }

  /** The step that is shown; 0 shows all. */
  get step() {
    return this.shared.value;
  }

  follow(step: number) {
    this.shared.follow(step);
    this.shared.value = within(this.step, 0, this.last()); // other data can have fewer steps
  }

  /** Go Back or Forward: the last click may stay unanswered, the next data count. */
  restore() {
    this.stop();
    this.shared.awaited = undefined;
    this.set(this.shared.heard ?? 0);
  }

  last() {
    return this.data.steps.length - 1;
  }

  /** Go to a step by hand: playing ends, and the host hears of it. Nothing lies past the ends. */
  go(step: number) {
    this.stop();
    if (!this.data.steps[step]) return;
    this.set(step);
    this.shared.choose(step);
    this.options.onSelect?.(step);
  }

  set(step: number) {
    this.shared.value = within(step, 0, this.last());
    this.showStep();
    this.layOut();
  }

  start() {
    this.set(this.step === this.last() ? 1 : this.step + 1);
    this.playOn();
  }

  /** Stay at the step, then go on. */
  playOn() {
    // a step lasts as long as its sentence takes to read
    const { length } = this.data.steps[this.step].says;
    this.timer = setTimeout(() => (this.step === this.last() ? this.stop() : this.start()),
      Math.max(PACE.least, length * PACE.letter));
    this.play.textContent = "❚❚ Pause";
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.isUnasked = false;
    this.play.textContent = PLAY;
  }

  showStep() {
    const { equation, says, code } = this.data.steps[this.step];
    this.equation.replaceChildren(...equationParts(equation).map((part) =>
      mathElement(["math", part])));
    this.says.textContent = forHand(says);
    this.code.textContent = code;
    this.stepButtons.forEach((node, n) =>
      node.setAttribute("aria-pressed", String(n === this.step)));
    if (!this.bar.matches(":focus-within")) this.enterAt(this.stepButtons[this.step]);
    // not `disabled`: a button that is disabled while it has the focus loses it
    this.back.setAttribute("aria-disabled", String(this.step === 0));
    this.next.setAttribute("aria-disabled", String(this.step === this.last()));
  }

  arrange(width: number) {
    const { data, step, theme } = this;
    this.root.classList.toggle("hl-narrow", width < NARROW);
    this.plan = planInside(data, step, width, this.measure, heightInSight(AROUND));
    const isColoured = this.plan.parts.some((part) =>
      part.step === step && !WITHOUT_KEY.includes(part.name));
    this.shape.textContent = data.steps[step].shape + (isColoured ? ` · ${KEY}` : "");
    this.setRoom();
    // the height of the tallest step, so that the page below does not jump
    const { least, height } = this.plan;
    const same = this.heights.least === least && this.heights.width === width;
    this.heights = { least, width, tallest: Math.max(same ? this.heights.tallest : 0, height) };
    this.frame.style.minHeight = `${this.heights.tallest}px`;
    // the keyboard reaches them while they scroll, and passes them over otherwise
    for (const node of [this.scroll, this.equation]) {
      if (node.scrollWidth > node.clientWidth) node.tabIndex = 0;
      else node.removeAttribute("tabindex");
    }
    const ratio = window.devicePixelRatio || 1;
    this.picture = insideMarks({ data, plan: this.plan, theme, step, ratio });
  }

  /** Add the row under the pointer to the picture: a move of the pointer copies no values. */
  marks(at: InsideAt | null) {
    const part = at && partAt(this.plan, this.step, at);
    const row = at && part?.perKey ? [rowMark(this.plan, this.theme, at.row)] : [];
    return [...row, ...this.picture];
  }

  hit(x: number, y: number) {
    const part = this.plan.parts.find((made) => isMade(made, this.step)
      && x >= made.x && x < made.x + made.width && y >= made.y && y < made.y + made.height);
    return part ? {
      name: part.name, step: part.step,
      row: Math.floor(((y - part.y) / part.height) * part.rows),
      column: Math.floor(((x - part.x) / part.width) * part.columns),
    } : null;
  }

  tipNodes(at: InsideAt) {
    const part = partAt(this.plan, this.step, at);
    if (!part) return null;
    const [name, value] = wordsOf(this.data, part, at);
    return [name, make("strong", {}, value)];
  }

  boxOf(at: InsideAt) {
    const { x, y, width, height, columns, rows } =
      partAt(this.plan, this.step, at) as Part;
    const [wide, high] = [width / columns, height / rows];
    return boxAt(x + at.column * wide, y + at.row * high, wide, high);
  }

  sheet() {
    const { name, says, shape } = this.data.steps[this.step];
    return { name: `${this.data.title} ${name}`, lines: [says, shape] };
  }
}

/** Split an equation at its spaces: a line can be broken there, which MathML does nowhere. */
export function equationParts([name, inside]: MathNode): MathNode[][] {
  if (name !== "mrow" || typeof inside === "string") return [[[name, inside]]];
  return inside.reduce((parts, node) => {
    if (node[1] === " ") return [...parts, []];
    return [...parts.slice(0, -1), [...parts[parts.length - 1], node]];
  }, [[]] as MathNode[][]);
}

function mathElement([name, inside]: MathNode) {
  const node: Element = document.createElementNS("http://www.w3.org/1998/Math/MathML", name);
  node.append(...(typeof inside === "string" ? [inside] : inside.map(mathElement)));
  return node;
}

const NAMES = {
  x: "x", q: "q", k: "k", v: "v", products: "q ∘ k", dots: "q · k", seen: "mask",
  weights: "α", weighted: "α v", z: "z", result: "what this head adds",
  others: "what the other heads add", added: "x + all heads", normalised: "LayerNorm",
};

export function wordsOf(
  data: InsideData, { name, perKey, columns }: Pick<Part, "name" | "perKey" | "columns">,
  { row, column }: { row: number; column: number },
): [place: string, value: string] {
  const value = data.arrays[name][row * columns + column];
  const key = perKey ? ` · ${quote(data.keys[row])}` : "";
  const nth = columns > 1 ? ` · ${column + 1} of ${columns}` : "";
  switch (name) {
    case "seen": return [NAMES.seen + key, value ? "seen" : "hidden"];
    case "scaled": return [`q · k ${data.factor}${key}`, figure(value)];
    case "norms": return [`length of what head ${column + 1} adds`, figure(value)];
    case "concat": {
      const [, width] = data.shapes.concat;
      const which = Math.floor(column / width);
      const own = which === data.head ? ", this one" : "";
      return [`z of head ${which + 1}${own} · ${(column % width) + 1}`, figure(value)];
    }
    default: return [NAMES[name] + key + nth, figure(value)];
  }
}

export const tableHead = ({ factor }: InsideData) => ["key", "q · k", factor, "mask", "softmax"];

export const tableRows = ({ keys, arrays: { dots, scaled, seen, weights } }: InsideData) =>
  keys.map((key, n) => [
    key, figure(dots[n]), figure(scaled[n]), seen[n] ? "seen" : "hidden", figure(weights[n]),
  ]);

export function noteOn({ ends }: InsideData) {
  const end = (name: ArrayName) => figure(ends[name] ?? 1);
  return `Olive is below 0, purple above. Colours saturate at ±${end("q")} for q, ±${
    end("k")} for k, ±${end("v")} for v and z, ±${end("x")} in the stream.`;
}
