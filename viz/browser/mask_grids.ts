// The masks of a batch: one grid for each sentence, side by side where there is room. A visible key
// is full; each reason that hides has a stroke of its own, so that nobody has to tell colours
// apart. Pointer and keys are answered here; the host hears only which row is chosen.

import { paint, sized } from "./core/canvas.ts";
import {
  ARROWS, boxAt, fillTable, framed, isShortcut, make, placeTip, pointIn, reveal,
} from "./core/dom.ts";
import { EDGE, heightInSight } from "./core/picture_view.ts";
import { group, type Group, type Mark, path, rect, text } from "./core/scene.ts";
import { isolate, quote, shortened, within } from "./core/text.ts";
import { View } from "./core/view.ts";
import type { Measure, Theme } from "./core/theme.ts";
import type { Message } from "./core/wire.ts";

export interface MaskGrid { // the mask of one sentence
  title: string;
  queries: string[];
  keys: string[];
  names: string[]; // of the rows, at the head of a sentence
  faded: boolean[]; // rows that are padding
  codes: Uint8Array; // `[query, key]`, places in `reasons`
}

interface MasksData { // the message of `encode_masks` in viz/draw/mask_grids.py
  title: string;
  color: string; // of what may be seen
  asNumbers: boolean; // what is added stands in the squares, not a stroke for each reason
  chosen: [sentence: number, row: number];
  reasons: string[]; // in words; the first, of what may be seen, is empty
  legend: [code: number, text: string][];
  grids: MaskGrid[];
}

/** Get the codes of one row. */
const rowOf = ({ codes, keys }: MaskGrid, row: number) =>
  codes.subarray(row * keys.length, (row + 1) * keys.length);

type Words = Pick<MaskGrid, "queries" | "keys">;
interface MaskAt { panel: number; row: number; key: number } // a square of one sentence's grid

interface MasksPlan { // for all grids, so that sentences can be compared
  square: number; // side of a square
  left: number; // where the squares begin
  top: number;
  font: number; // size of the letters
}

const SQUARE = { largest: 26, smallest: 13 };
const LETTERS = 13;
const WIDEST = 600; // of a grid that has to share the page's width
export const LONGEST = 120; // of a word at the side, CSS pixels; all of it is a hover away

export function planMasks(
  grids: Words[], width: number, tallest: number, measure: Measure,
): MasksPlan {
  // the bold of a word that is pointed at is the widest
  const room = (tokens: string[]) =>
    Math.min(LONGEST, Math.ceil(Math.max(...tokens.map((token) => measure(token, LETTERS, 600)))));
  const left = room(grids.flatMap(({ queries }) => queries)) + EDGE;
  const top = room(grids.flatMap(({ keys }) => keys)) + EDGE;
  const side = Math.max(...grids.flatMap(({ queries, keys }) => [queries.length, keys.length]));
  const fits = Math.floor(Math.min(Math.min(width, WIDEST) - left, tallest - top) / side);
  const square = within(fits, SQUARE.smallest, SQUARE.largest);
  return { square, left, top, font: Math.min(LETTERS, square - 2) };
}

/** Measure a grid with its words. */
export const extent = (
  { square, left, top }: MasksPlan, { queries, keys }: Words,
): [width: number, height: number] =>
  [left + keys.length * square + 2, top + queries.length * square + 2];

type Look = Pick<MasksData, "color" | "asNumbers"> & { theme: Theme }; // of the squares

// for each code the lines of its stroke, from x, y to x, y in a unit square: none, a slash, a dash,
// a cross
const STROKES = [[], [[0, 1, 1, 0]], [[0, 0.5, 1, 0.5]], [[0, 0, 1, 1], [0, 1, 1, 0]]];
const FAINT = { hidden: 0.4, stroke: 0.65, padding: 0.35, paddingWord: 0.68 };
const WHITE = "#FFFFFF"; // on the colour of a kind

/** All squares of a grid: they stay the same under the pointer. */
export function gridMarks(grid: MaskGrid, plan: MasksPlan, look: Look) {
  const { square, left, top } = plan;
  const marks = grid.queries.flatMap((_, row) =>
    Array.from(rowOf(grid, row)).flatMap((code, key) => squareMarks(code, look, {
      x: left + key * square, y: top + row * square, side: square,
      opacity: grid.faded[row] ? FAINT.padding : 1,
    })));
  return group(marks, { layer: extent(plan, grid) });
}

export function squareMarks(
  code: number, { color, asNumbers, theme }: Look,
  { x, y, side, opacity = 1 }: { x: number; y: number; side: number; opacity?: number },
): Mark[] {
  const square = rect({
    x: x + 0.5, y: y + 0.5, width: side - 1, height: side - 1,
    fill: code ? theme.line : color, opacity: code ? opacity * FAINT.hidden : opacity,
  });
  if (asNumbers) {
    return [square, text({
      text: code ? "−∞" : "0", x: x + side / 2, y: y + side / 2 + 0.5,
      size: Math.round(side * 0.54), anchor: "middle", middle: true,
      fill: code ? theme.ink : WHITE, opacity,
    })];
  }
  const point = (across: number, down: number) =>
    [x + side * (0.3 + 0.4 * across), y + side * (0.3 + 0.4 * down)];
  const lines = STROKES[code].map(([fromX, fromY, toX, toY]) =>
    `M${point(fromX, fromY)}L${point(toX, toY)}`);
  return code ? [square, path({
    d: lines.join(""), stroke: theme.ink, line: 1.25, opacity: opacity * FAINT.stroke,
  })] : [square];
}

export interface MaskScene {
  grid: MaskGrid;
  plan: MasksPlan;
  theme: Theme;
  measure: Measure;
  squares: Group; // what `gridMarks` gives
  chosen: number | null; // row
  at: Omit<MaskAt, "panel"> | null; // the pointer or the cursor
}

export const maskMarks = (scene: MaskScene): Mark[] =>
  [...rowWords(scene), ...columnWords(scene), scene.squares, ...frames(scene)];

const rowWords = ({ grid, plan, theme, measure, chosen, at }: MaskScene): Mark[] =>
  grid.queries.map((token, row) => {
    const weight = row === at?.row || row === chosen ? 600 : 400;
    return text({
      text: fitted(token, plan.font, weight, measure), size: plan.font, weight,
      x: plan.left - EDGE, y: plan.top + (row + 0.5) * plan.square + 0.5, anchor: "end",
      middle: true, fill: theme.ink, opacity: grid.faded[row] ? FAINT.paddingWord : 1,
    });
  });

const columnWords = ({ grid, plan, theme, measure, at }: MaskScene): Mark[] =>
  grid.keys.map((token, key) => {
    const weight = key === at?.key ? 600 : 400;
    return text({
      text: fitted(token, plan.font, weight, measure), size: plan.font, weight,
      x: plan.left + (key + 0.5) * plan.square + 0.5, y: plan.top - EDGE + 2, middle: true,
      angle: -Math.PI / 2, fill: theme.ink,
    });
  });

/** Shorten a word that is too long for its place. */
const fitted = (token: string, size: number, weight: 400 | 600, measure: Measure) =>
  isolate(shortened(token, LONGEST - EDGE, (word) => measure(word, size, weight)));

/** Frame the chosen row, and the square under the pointer. */
function frames({ grid, plan: { square, left, top }, theme, chosen, at }: MaskScene): Mark[] {
  const frame = { stroke: theme.ink, line: 2 };
  return [
    ...(chosen == null ? [] : [rect({
      x: left - 1, y: top + chosen * square - 1,
      width: grid.keys.length * square + 2, height: square + 2, ...frame,
    })]),
    ...(at == null ? [] : [rect({
      x: left + at.key * square, y: top + at.row * square, width: square, height: square, ...frame,
    })]),
  ];
}

interface Panel { // the place of one sentence's grid
  root: HTMLElement;
  title: HTMLElement;
  canvas: HTMLCanvasElement;
  scroll: HTMLElement;
  table: HTMLTableElement;
  squares?: Group;
}

const HELP = "Arrow keys move over the squares, Enter chooses a row.";
const SIDE = 18; // of a square in the legend
const SHEET = { widest: 1400, apart: 32, title: 28 }; // of what is saved
const ADDED = ["True, so 0 is added", "False, so −∞ is added"];

export class MaskGrids extends View<MasksData> {
  static sends = true;

  static read({ meta, arrays }: Message): MasksData {
    const whole = (grid: Omit<MaskGrid, "codes">, n: number) =>
      ({ ...grid, codes: arrays[`codes.${n}`] });
    return { ...meta, grids: meta.grids.map(whole) };
  }

  tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
  room = make("div", { class: "hl-masks" });
  frame = make("div", { class: "hl-frame" }, this.room, this.tip);
  legend = make("div", { class: "hl-legends" });
  foot = make("div", { class: "hl-foot" }, this.legend, this.saveButtons());
  panels: Panel[] = [];
  words = "";
  at: MaskAt | null = null; // under the pointer or the cursor
  declare plan: MasksPlan;

  constructor() {
    super();
    this.root.append(this.frame, this.foot, this.live);
  }

  update() {
    const { data: { grids, title }, panels } = this;
    const words = JSON.stringify(grids.map(({ queries, keys }) => [queries, keys]));
    if (words !== this.words) this.at = null; // other sentences, other squares
    this.words = words;
    this.root.setAttribute("aria-label", title);
    while (panels.length > grids.length) panels.pop()?.root.remove();
    while (panels.length < grids.length) panels.push(this.panel(panels.length));
    grids.forEach((grid, n) => this.describe(panels[n], grid));
  }

  panel(n: number): Panel {
    const title = make("h3", { class: "hl-title" });
    const canvas = make("canvas", { "aria-hidden": "true" });
    const scroll = make("div", {
      class: "hl-scroll", tabindex: "0", role: "application",
    }, canvas);
    const table = make("table");
    const root = make("div", { class: "hl-mask" }, title, framed(scroll),
      make("div", { class: "hl-unseen" }, table));
    scroll.addEventListener("pointermove", (event) => this.point(this.under(n, event)));
    scroll.addEventListener("pointerleave", () => this.point(null));
    scroll.addEventListener("blur", () => this.point(null));
    scroll.addEventListener("keydown", (event) => this.onKey(n, event));
    scroll.addEventListener("click", (event) => {
      const at = this.under(n, event);
      this.point(at);
      if (at) this.options.onSelect?.([n, at.row]);
    });
    this.room.append(root);
    return { root, title, canvas, scroll, table };
  }

  /** Describe a grid without drawing: its title, and how much of the batch each row sees. */
  describe({ title, scroll, table }: Panel, grid: MaskGrid) {
    const name = `${this.data.title}, ${grid.title}`;
    title.textContent = grid.title;
    scroll.setAttribute("aria-label", `${name}. ${HELP}`);
    fillTable(table, name, ["token", "tokens that it may see"], grid.queries.map((token, row) => {
      const seen = rowOf(grid, row).filter((code) => code === 0).length;
      return [token, `${seen} of ${grid.keys.length}`];
    }));
  }

  arrange(width: number) {
    const { data, panels } = this;
    this.plan = planMasks(data.grids, width, heightInSight(), this.measure);
    data.grids.forEach((grid, n) => {
      panels[n].squares = gridMarks(grid, this.plan, this.look());
    });
    this.legend.replaceChildren(...data.legend.map(([code, words]) => {
      const canvas = make("canvas", { "aria-hidden": "true" });
      paint(sized(canvas, SIDE, SIDE), this.sample(code), this.theme.font);
      return make("span", { class: "hl-legend" }, canvas, make("span", {}, words));
    }));
  }

  look() {
    const { data: { color, asNumbers }, theme } = this;
    return { color, asNumbers, theme };
  }

  /** Draw a square of the legend. */
  sample(code: number) {
    return squareMarks(code, this.look(), { x: 0, y: 0, side: SIDE });
  }

  draw() {
    this.panels.forEach((_, n) => this.drawPanel(n));
    this.showTip();
  }

  drawPanel(n: number) {
    const context = sized(this.panels[n].canvas, ...extent(this.plan, this.data.grids[n]));
    paint(context, this.marks(n, this.at), this.theme.font);
  }

  /** Draw the grid of one sentence. */
  marks(n: number, at: MaskAt | null) {
    const { data, plan, theme, measure } = this;
    const [sentence, row] = data.chosen;
    return maskMarks({
      grid: data.grids[n], plan, theme, measure,
      squares: this.panels[n].squares as Group,
      chosen: sentence === n ? row : null, at: at?.panel === n ? at : null,
    });
  }

  /** Save the grids side by side, as many as a page takes. */
  sheet() {
    const { data: { grids, title, legend }, plan, theme } = this;
    const [width, height] = extent(plan, grids[0]); // a batch is padded: all are alike
    const [across, down] = [width + SHEET.apart, height + SHEET.title + SHEET.apart];
    const columns = within(Math.floor(SHEET.widest / across), 1, grids.length);
    return {
      title,
      width: columns * across - SHEET.apart,
      height: Math.ceil(grids.length / columns) * down - SHEET.apart,
      legend: legend.flatMap(([code, words]) =>
        [{ width: SIDE, marks: this.sample(code) }, words]),
      marks: grids.map((grid, n) => group([
        text({ text: grid.title, x: 0, y: 14, size: 14, weight: 600, fill: theme.ink }),
        group(this.marks(n, null), { y: SHEET.title }),
      ], { x: (n % columns) * across, y: Math.floor(n / columns) * down })),
    };
  }

  under(panel: number, event: MouseEvent) {
    return this.plan ? this.hit(panel, ...pointIn(event, this.panels[panel].canvas)) : null;
  }

  /** Find the square at a place; beside a row's word, the first of the row. */
  hit(panel: number, x: number, y: number): MaskAt | null {
    const { square, left, top } = this.plan;
    const { queries, keys } = this.data.grids[panel];
    const [row, key] = [Math.floor((y - top) / square), Math.floor((x - left) / square)];
    if (row < 0 || row >= queries.length || key >= keys.length) return null;
    return { panel, row, key: Math.max(key, 0) };
  }

  point(at: MaskAt | null) {
    if (JSON.stringify(at) === JSON.stringify(this.at)) return;
    const changed = new Set([this.at?.panel, at?.panel]);
    this.at = at;
    for (const panel of changed) if (panel != null) this.drawPanel(panel);
    this.showTip();
  }

  onKey(panel: number, event: KeyboardEvent) {
    if (isShortcut(event)) return;
    const { row, key } = this.at?.panel === panel ? this.at : { row: 0, key: -1 };
    const { queries, keys } = this.data.grids[panel];
    if (event.key in ARROWS) {
      const [right, down] = ARROWS[event.key];
      const to = key < 0 ? { panel, row, key: 0 } : { // from outside every key leads in
        panel, row: within(row + down, 0, queries.length - 1),
        key: within(key + right, 0, keys.length - 1),
      };
      reveal(this.panels[panel].scroll, this.boxOf(to));
      this.point(to);
      this.live.textContent = this.sentences(to).join(" ");
    } else if (event.key === "Enter" || event.key === " ") {
      this.options.onSelect?.([panel, row]);
      this.live.textContent = `row ${quote(queries[row])} chosen`;
    } else return;
    event.preventDefault();
  }

  boxOf({ row, key }: Pick<MaskAt, "row" | "key">) {
    const { square, left, top } = this.plan;
    return boxAt(left + key * square, top + row * square, square, square);
  }

  /** Describe a square. */
  sentences({ panel, row, key }: MaskAt) {
    const { grids, reasons } = this.data;
    const { names, keys } = grids[panel];
    const code = rowOf(grids[panel], row)[key];
    const [query, other] = [names[row], quote(keys[key])];
    return [
      code ? `${query} may not see ${other}: ${reasons[code]}.` : `${query} may see ${other}.`,
      ADDED[code ? 1 : 0],
    ];
  }

  showTip() {
    this.tip.hidden = !this.at;
    if (!this.at) return;
    const { panel, row } = this.at;
    const [seen, added] = this.sentences(this.at);
    this.tip.replaceChildren(seen, make("div", {}, added));
    if (this.data.grids[panel].faded[row]) {
      this.tip.append(make("div", {}, "The row of padding itself is read by nobody."));
    }
    const { left: clientX, top: clientY } = this.panels[panel].canvas.getBoundingClientRect();
    const [x, y] = pointIn({ clientX, clientY }, this.frame);
    const { left, top, right, bottom } = this.boxOf(this.at);
    placeTip(this.tip, this.frame,
      { left: left + x, top: top + y, right: right + x, bottom: bottom + y });
  }
}
