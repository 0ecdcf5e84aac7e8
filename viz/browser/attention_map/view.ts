// One head, large: what looks is down the side, what is looked at across the top. Pointer and keys
// are answered here, from the exact weights; the host hears nothing of it. All marks are made
// afresh at each change: a few hundred words and one scaled picture take about a millisecond.

import {
  type Colors, cssColor, hidden, legend, legendNodes, leveller, rasterOf,
} from "../core/color.ts";
import { fillAxes, fillTable, make, MOVES, pointIn } from "../core/dom.ts";
import {
  EDGE, heightInSight, MatrixView, type Scene, type Square, TALLEST,
} from "../core/picture_view.ts";
import { worded } from "../core/labels.ts";
import { paletteOf } from "../core/palette.ts";
import { group, type Mark, picture, type Place, type Raster, rect, text } from "../core/scene.ts";
import { SharedChoice } from "../core/store.ts";
import { difference, isolate, looksMost, number, quote, within } from "../core/text.ts";
import {
  AVERAGE, averageRow, columnAt, extended, leftOf, LONGEST, type MapData, type MapPlan, originOf,
  paintedOf, pinOf, planMap, rowAt, rowOf, squaresOf, staying, type Stroke, turned,
} from "./plan.ts";

type MapScene = Scene<MapData, MapPlan, Square>
  & Pick<AttentionMap, "raster" | "average" | "pinned"> & Partial<Pick<AttentionMap, "stroke">>
  & { origin: ReturnType<typeof originOf>; width: number; height: number }; // of the frame

/** The weights as one pixel a square; what is hidden or below the threshold stays transparent. */
export function mapRaster(data: MapData, colors: Colors) {
  const { causal, weights, queries, keys, threshold } = data;
  const level = leveller(data);
  return rasterOf(keys.length, queries.length, colors, (n) => {
    const row = Math.floor(n / keys.length);
    const unseen = hidden(causal, row, n % keys.length, weights[n]);
    return unseen || Math.abs(weights[n]) < threshold ? -1 : level(weights[n], row);
  });
}

export function mapMarks(scene: MapScene): Mark[] {
  const { data, plan, origin: { edge }, width, height, at, pinned } = scene;
  const row = pinned ?? at?.row;
  const name = row == null ? AVERAGE : isolate(leftOf(data)[row]);
  const middle = plan.top - (data.signed ? plan.bars / 2 : 11);
  return [
    group(squares(scene), { clip: [edge, plan.top, width, height] }),
    group(besideRows(scene, leftOf(scene.data), rowWord), { clip: [0, plan.top, width, height] }),
    group(besideRows(scene, data.both?.writes ?? [], writtenWord),
      { clip: [edge, plan.top, width, height] }),
    group(columnWords(scene), { clip: [edge, 0, width, plan.head] }),
    group(barMarks(scene), { clip: [edge, plan.head, width, plan.bars] }),
    group([rowWord(scene, name, middle, row != null)], { clip: [0, plan.head, edge, plan.bars] }),
    group(pointed(scene), { clip: [0, plan.top - 1, width, height] }),
  ];
}

const VEIL = 0.55; // of the paper, over weights that are not used, as in the grid of all heads

/** Draw the squares in the frame: a map of 512 words has a quarter of a million. */
function squares(
  { data, plan, theme, raster, origin: { x, y, edge }, width, height }: MapScene,
): Mark[] {
  const { square, wide, top } = plan;
  const [left, right] = seen(x, edge, width, wide, data.keys.length);
  const [first, last] = seen(y, top, height, square, data.queries.length);
  const [across, high] = [right - left, last - first];
  if (across <= 0 || high <= 0) return [];
  const area = {
    x: x + left * wide, y: y + first * square, width: across * wide, height: high * square,
    fill: theme.paper, // a hair of it between the squares
  };
  return [
    picture({ ...area, raster, part: [left, first, across, high] }),
    ...Array.from({ length: across + 1 }, (_, key) =>
      rect({ ...area, x: area.x + key * wide - 0.5, width: 1 })),
    ...Array.from({ length: high + 1 }, (_, row) =>
      rect({ ...area, y: area.y + row * square - 0.5, height: 1 })),
    ...(data.unused ? [rect({ ...area, opacity: VEIL })] : []),
  ];
}

const seen = (origin: number, start: number, end: number, square: number, count: number) => [
  Math.max(0, Math.floor((start - origin) / square)),
  Math.min(count, Math.ceil((end - origin) / square)),
];

function besideRows(scene: MapScene, words: string[], mark: typeof rowWord): Mark[] {
  const { plan, origin: { y }, at, pinned, height } = scene;
  return words.flatMap((word, row) => {
    const middle = y + (row + 0.5) * plan.square;
    if (middle < plan.top - plan.square || middle > height + plan.square) return [];
    return [mark(scene, isolate(word), middle, row === at?.row || row === pinned)];
  });
}

const rowWord = (
  { plan, theme, origin }: MapScene, word: string, middle: number, strong: boolean,
) => text({
  text: word, x: origin.edge - EDGE, y: middle + 0.5, size: plan.font, weight: strong ? 600 : 400,
  anchor: "end", middle: true, fill: theme.ink,
});

const writtenWord = (scene: MapScene, word: string, middle: number, strong: boolean) => {
  const { data, plan, origin: { x } } = scene;
  const right = x + data.keys.length * plan.wide + EDGE;
  return { ...rowWord(scene, word, middle, strong), x: right, anchor: "start" } as const;
};

function columnWords({ data, plan, theme, origin: { x, edge }, width, at }: MapScene): Mark[] {
  return data.keys.flatMap((token, key) => {
    const middle = x + (key + 0.5) * plan.wide;
    if (middle < edge || middle > width + plan.wide) return [];
    return [text({
      text: isolate(token), x: middle, y: plan.head - 4, size: plan.font,
      weight: key === at?.key ? 600 : 400, fill: theme.ink, angle: -plan.angle,
      anchor: plan.angle ? "start" : "middle", middle: Boolean(plan.angle), room: LONGEST,
    })];
  });
}

function pointed(scene: MapScene): Mark[] {
  const { data, plan, theme, at, pinned, stroke, origin: { x, y, edge }, width, height } = scene;
  const { square, wide, top } = plan;
  const { ink } = theme;
  const right = Math.min(width, x + data.keys.length * wide);
  const bottom = Math.min(height, y + data.queries.length * square);
  const marks: Mark[] = [];
  const middle = y + ((pinned ?? 0) + 0.5) * square;
  if (pinned != null && middle > top) {
    marks.push(rect(
      { x: edge - 5, y: middle - square / 2 + 2, width: 3, height: square - 4, fill: ink }));
  }
  const frame = { stroke: ink, opacity: 0.6 };
  for (const row of new Set([at?.row, pinned])) {
    if (row == null) continue;
    marks.push(rect({
      x: edge - 0.5, y: y + row * square - 0.5, width: right - edge + 1, height: square + 1,
      ...frame,
    }));
  }
  for (const row of data.painted ?? []) {
    marks.push(rect({
      x: x - 1, y: y + row * square, width: right - x + 2, height: square, stroke: ink, line: 2,
    }));
  }
  for (const [row, key] of stroke ? squaresOf(stroke) : []) {
    marks.push(rect({
      x: x + key * wide + 1, y: y + row * square + 1, width: wide - 2, height: square - 2,
      stroke: ink, line: 2,
    }));
  }
  if (at?.key == null) return marks;
  const left = x + at.key * wide;
  return [
    ...marks,
    rect({ x: left - 0.5, y: top - 0.5, width: wide + 1, height: bottom - top + 1, ...frame }),
    rect({ x: left, y: y + at.row * square, width: wide, height: square, stroke: ink, line: 2 }),
  ];
}

const DIGITS = 10; // the size of the numbers over the bars, CSS pixels
const NUMBER = 14; // their room
const OWN = { light: 150, dark: 170 }; // about the kind's own colour
const SIDE = 84; // and as far off the middle of the differences' colours
const FAINT = 0.35; // bars of the average

function barMarks(scene: MapScene): Mark[] {
  const { data, plan, theme, average, origin, at, pinned } = scene;
  const colors = data.palette[theme.name];
  const row = pinned ?? at?.row;
  const weights = row == null ? average : rowOf(data, row);
  const tallest = data.signed ? plan.bars / 2 - NUMBER - 4 : plan.bars - NUMBER - 4;
  const floor = data.signed ? plan.top - plan.bars / 2 : plan.top - 4;
  const bars = Array.from(weights, (weight, key) => {
    const level = data.signed ? 128 + Math.sign(weight) * SIDE : OWN[theme.name];
    const height = within(Math.abs(weight), 0, 1) * tallest;
    return rect({
      x: origin.x + key * plan.wide + 2, y: weight < 0 ? floor + 1 : floor - height,
      width: plan.wide - 4, height,
      ...(row == null ? { fill: theme.ink, opacity: FAINT } : { fill: cssColor(colors, level) }),
    });
  });
  const numbers = row == null ? [] : numberMarks(scene, weights, floor, tallest);
  const line = rect({
    x: origin.x, y: floor, width: data.keys.length * plan.wide, height: 1, fill: theme.line,
  });
  return [line, ...bars, ...numbers];
}

/** Write numbers over the bars, the largest first, where they touch no other. */
function numberMarks(
  { plan, theme, origin: { x }, measure }: MapScene, weights: Float32Array, floor: number,
  tallest: number,
): Mark[] {
  const taken: Record<"above" | "below", [number, number][]> = { above: [], below: [] };
  const size = (key: number) => Math.abs(weights[key]);
  const marks = [];
  for (const key of [...weights.keys()].sort((a, b) => size(b) - size(a))) {
    if (size(key) < 0.005) break;
    const less = weights[key] < 0;
    const words = (less ? "−" : "") + size(key).toFixed(2);
    const half = measure(words, DIGITS, 400) / 2 + 2;
    const middle = Math.max(x + (key + 0.5) * plan.wide, x + half);
    const beside = less ? taken.below : taken.above;
    if (beside.some(([from, to]) => middle - half < to && middle + half > from)) continue;
    beside.push([middle - half, middle + half]);
    const height = Math.min(1, size(key)) * tallest;
    marks.push(text({
      text: words, x: middle, y: less ? floor + height + 2 + DIGITS : floor - height - 3,
      size: DIGITS, anchor: "middle", fill: theme.ink,
    }));
  }
  return marks;
}

const NONE = -1; // in the place of a pinned row
const HELP = "Arrow keys move over the squares, Enter keeps a row, Escape lets it go.";
const PAINT_HELP = "Arrow keys move over the squares, Enter paints one or lets it go.";

export class AttentionMap extends MatrixView<MapData, MapPlan> {
  static read({ axes, ...message }: any): MapData {
    const palette = paletteOf(message.signed ? null : axes.kind);
    return { ...message, ...worded(axes), palette };
  }

  title = make("h3", { class: "hl-title" });
  axes = make("div", { class: "hl-axes" });
  legend = make("span", { class: "hl-legend" });
  pin = new SharedChoice<number>(NONE); // a row
  stroke: Stroke | null = null;
  declare pressed: MapData; // the map under the stroke: while it is painted, another may arrive
  amount = number; // writes a weight
  declare raster: Raster;
  declare average: Float32Array;

  constructor() {
    super();
    this.root.prepend(this.title, this.axes);
    this.scroll.classList.add("hl-fine");
    this.note.after(this.legend);
  }

  get pinned() {
    return this.pin.value === NONE ? null : this.pin.value;
  }

  setPin(row: number) {
    if (row === this.pin.value) return;
    this.pin.choose(row);
    if (this.data.pinned != null) this.options.onSelect?.(pinOf(this.data, row));
  }

  listen(scroll = this.scroll) {
    super.listen(scroll);
    scroll.addEventListener("pointerdown", (event) => this.beginStroke(event));
    scroll.addEventListener("touchstart", (event) => { // a finger scrolls, but paints on squares
      if (this.data.paints && this.under(event.touches[0])?.key != null) event.preventDefault();
    }, { passive: false });
    scroll.addEventListener("pointermove", (event) => this.extendStroke(event));
    scroll.addEventListener("pointerup", () => this.endStroke(true));
    scroll.addEventListener("pointercancel", () => this.endStroke(false)); // it became a scroll
  }

  beginStroke(event: PointerEvent) {
    const at = this.data.paints && event.button === 0 ? this.under(event) : null;
    if (at?.key == null) return;
    this.scroll.setPointerCapture(event.pointerId);
    this.pressed = this.data;
    this.stroke = { row: at.row, keys: [at.key] };
    this.draw();
  }

  /** Extend the stroke. A hand that leaves the row paints it, unless it goes down a column. */
  extendStroke(event: PointerEvent) {
    if (!this.stroke) return;
    const { data, plan } = this;
    const [x, y] = pointIn(event, this.canvas);
    const visible = this.visible();
    const key = columnAt(data, plan, x, visible);
    this.stroke = extended(this.stroke, key);
    if (data.paintsDown) this.stroke = turned(this.stroke, rowAt(data, plan, y, visible), key);
    this.draw();
  }

  endStroke(painted: boolean) {
    const { stroke } = this;
    if (!stroke) return;
    this.stroke = null;
    this.draw();
    if (painted) this.options.onSelect?.(paintedOf(this.pressed, stroke));
  }

  update() {
    const { data } = this;
    // other rows
    if (this.setTexts([data.kind, data.queries, data.keys])) {
      this.at = this.stroke = null;
      this.pin = new SharedChoice(NONE);
    }
    this.pin.follow(data.pinned ?? undefined);
    this.title.textContent = data.title;
    this.title.dataset.kind = data.signed ? "" : data.kind;
    this.describe(data.title, data.paints ? PAINT_HELP : HELP, data.note);
    fillAxes(this.axes, axes(data));
    this.average = averageRow(data);
    this.amount = data.signed ? difference : number;
    this.listLargest();
  }

  listLargest() {
    const { both, queries, keys, title, rows, columns, signed, amount = "weight" } = this.data;
    const [most, held] = signed ? ["each position differs most", "difference"]
      : [looksMost(amount), amount];
    fillTable(this.table, `${title}: where ${most}`, [...both?.titles ?? [rows], columns, held],
      queries.map((token, row) => {
        const weights = rowOf(this.data, row);
        const sizes = weights.map(Math.abs);
        const key = sizes.indexOf(Math.max(...sizes));
        const names = both ? [both.reads[row], both.writes[row]] : [token];
        return [...names, keys[key], this.amount(weights[key])];
      }));
  }

  arrange(width: number) {
    this.plan = planMap(this.data, width,
      heightInSight(undefined, this.root.currentCSSZoom), this.measure);
    this.setRoom();
    // the scroll bar stands below the picture, not over it
    const bar = this.plan.width > width ? this.scroll.offsetHeight - this.scroll.clientHeight : 0;
    this.scroll.style.height = `${Math.min(this.plan.height, TALLEST) + bar}px`;
    const colors = this.data.palette[this.theme.name];
    this.raster = mapRaster(this.data, colors);
    this.legend.replaceChildren(...legendNodes(this.data, colors));
  }

  marks(at: Square | null, visible: Place) {
    const { raster, average, pinned, stroke } = this;
    const { x, y, width, height } = visible;
    const origin = originOf(this.plan, visible);
    // the words stay in the frame while the squares scroll
    return [group(mapMarks({
      ...this.scene(at), raster, average, pinned, stroke, origin, width, height,
    }), { x, y })];
  }

  sheet() {
    const { data, theme } = this;
    return {
      title: data.title,
      lines: axes(data).map((words) => words.join(" ")),
      legend: legend(data, data.palette[theme.name]),
    };
  }

  squares() {
    const { data: { queries, keys }, plan: { left, top, wide, square } } = this;
    return { left, top, wide, high: square, rows: queries.length, keys: keys.length };
  }

  hit(x: number, y: number, visible: Place) {
    const { data: { both, keys }, plan } = this;
    if (y - visible.y < plan.top) return null;
    const beside = x - visible.x < originOf(plan, visible).edge
      || (both && x >= plan.left + keys.length * plan.wide);
    return super.hit(beside ? 0 : x, y);
  }

  pick({ row }: Square) {
    if (this.data.paints) return; // the stroke was sent
    this.setPin(this.pinned === row ? NONE : row);
    this.draw();
  }

  press(key: string) {
    const at = this.start();
    if (key === "Enter" || key === " ") {
      if (!this.data.paints) {
        this.pick(at);
        this.live.textContent = this.pinned == null ? "row let go"
          : `row ${quote(this.data.queries[at.row])} kept`;
      } else if (at.key != null) { // the page names the painted square
        this.options.onSelect?.(paintedOf(this.data, { row: at.row, keys: [at.key] }));
      }
    } else if (key === "Escape") {
      this.at = this.stroke = null;
      this.setPin(NONE);
      this.draw();
    } else return super.press(key);
    return true;
  }

  start(): Square {
    return this.at ?? { row: this.pinned ?? 0, key: null };
  }

  target(key: string) {
    return super.target(key, MOVES);
  }

  words({ row, key }: Square) {
    const { causal, queries, keys, weights } = this.data;
    const column = key ?? 0;
    const weight = weights[row * keys.length + column];
    const amount = hidden(causal, row, column, weight) ? "hidden, it comes later"
      : this.amount(weight);
    return [`${quote(queries[row])} → ${quote(keys[column])}`, amount];
  }

  sentence(at: Square) {
    return [...this.words(at), ...this.rowSentence(at)].join(" ");
  }

  rowSentence({ row }: Square) {
    const name = this.data.rowNames?.[row];
    return name ? [`This step ${name}.`] : [];
  }

  tipNodes(at: Square) {
    if (at.key == null || this.data.paints) return null; // it would cover what is painted next
    const [square, amount] = this.words(at);
    const row = this.rowSentence(at).map((part) => make("div", {}, part));
    return [square, make("strong", {}, amount), ...row];
  }

  /** Get the part to scroll to, clear of the words that stay. */
  roomOf(at: Square) {
    const { left, top, right, bottom } = this.boxOf(at);
    const edge = staying(this.plan, this.scroll.clientWidth);
    return { left: left - edge, top: top - this.plan.top, right, bottom };
  }
}

const axes = ({ both, rows, columns }: MapData) => [
  ...(both ? [["Left", both.titles[0]], ["Right", both.titles[1]]] : [["Rows ↓", rows]]),
  ["Columns →", columns],
];
