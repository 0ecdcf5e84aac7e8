// The masks of a batch: one grid for each sentence, side by side where there is room. A visible key
// is full; each reason that hides has a stroke of its own, so that nobody has to tell colours
// apart. Pointer and keys are answered here; the host hears only which row is chosen.

import { paint, sized } from "./core/canvas.ts";
import { fillTable, framed, make, pointIn } from "./core/dom.ts";
import { EDGE, heightInSight, MatrixView, type Size, type Square } from "./core/picture_view.ts";
import { group, type Group, type Mark, path, rect, text, type Text } from "./core/scene.ts";
import { isolate, quote, shortened, within } from "./core/text.ts";
import type { Measure, Theme } from "./core/theme.ts";

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

const rowOf = ({ codes, keys }: MaskGrid, row: number) =>
  codes.subarray(row * keys.length, (row + 1) * keys.length);

type Words = Pick<MaskGrid, "queries" | "keys">;
type MasksPlan = ReturnType<typeof planMasks>;

const SQUARE = { largest: 26, smallest: 13 };
const LETTERS = 13;
const WIDEST = 600; // of a grid that has to share the page's width
export const LONGEST = 120; // of a word at the side, CSS pixels; all of it is a hover away

export function planMasks(grids: Words[], width: number, tallest: number, measure: Measure) {
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

export type MaskScene = Pick<MaskGrids, "theme" | "measure" | "at"> & {
  grid: MaskGrid;
  plan: MasksPlan;
  squares: Group; // what `gridMarks` gives
  chosen: number | null; // row
};

export function maskMarks(scene: MaskScene): Mark[] {
  const { grid, plan: { left, top, square, font: size }, theme, measure, chosen, at } = scene;
  const word = (token: string, isStrong: boolean, place: Pick<Text, "x" | "y">) => {
    const weight = isStrong ? 600 : 400;
    const fits = shortened(token, LONGEST - EDGE, (part) => measure(part, size, weight));
    return text({ text: isolate(fits), size, weight, ...place, middle: true, fill: theme.ink });
  };
  const rows = grid.queries.map((token, row) => ({
    ...word(token, row === at?.row || row === chosen,
      { x: left - EDGE, y: top + (row + 0.5) * square + 0.5 }),
    anchor: "end" as const, opacity: grid.faded[row] ? FAINT.paddingWord : 1,
  }));
  const columns = grid.keys.map((token, key) => ({
    ...word(token, key === at?.key, { x: left + (key + 0.5) * square + 0.5, y: top - EDGE + 2 }),
    angle: -Math.PI / 2,
  }));
  return [...rows, ...columns, scene.squares, ...frames(scene)];
}

function frames({ grid, plan: { square, left, top }, theme, chosen, at }: MaskScene): Mark[] {
  const frame = { stroke: theme.ink, line: 2 };
  return [
    ...(chosen == null ? [] : [rect({
      x: left - 1, y: top + chosen * square - 1,
      width: grid.keys.length * square + 2, height: square + 2, ...frame,
    })]),
    ...(at == null ? [] : [rect({
      x: left + (at.key ?? 0) * square, y: top + at.row * square, width: square, height: square,
      ...frame,
    })]),
  ];
}

const HELP = "Arrow keys move over the squares, Enter chooses a row.";
const SIDE = 18; // of a square in the legend
const SHEET = { widest: 1400, apart: 32, title: 28 }; // of what is saved
const ADDED = ["True, so 0 is added", "False, so −∞ is added"];

export class MaskGrids extends MatrixView<MasksData, MasksPlan & Size> {
  legend = make("div", { class: "hl-legends" });
  row = make("div", { class: "hl-masks" });
  panels: ReturnType<MaskGrids["panel"]>[] = [];
  active = 0; // number of the panel that the pointer or the focus is in

  constructor() {
    super();
    this.scroll.replaceWith(this.row); // each panel scrolls by itself
    this.note.replaceWith(this.legend);
    this.unseen.remove();
  }

  update() {
    const { data: { grids, title }, panels } = this;
    if (this.setTexts(grids.map(({ queries, keys }) => [queries, keys]))) this.at = null;
    this.root.setAttribute("aria-label", title);
    while (panels.length > grids.length) panels.pop()?.root.remove();
    while (panels.length < grids.length) panels.push(this.panel(panels.length));
    grids.forEach((grid, n) => {
      const { title: heading, scroll, table } = panels[n];
      const name = `${title}, ${grid.title}`;
      heading.textContent = grid.title;
      scroll.setAttribute("aria-label", `${name}. ${HELP}`);
      fillTable(table, name, ["token", "tokens that it may see"], grid.queries.map((token, row) => {
        const seen = rowOf(grid, row).filter((code) => code === 0).length;
        return [token, `${seen} of ${grid.keys.length}`];
      }));
    });
    this.enter(Math.min(this.active, grids.length - 1));
  }

  panel(n: number) {
    const title = make("h3", { class: "hl-title" });
    const canvas = make("canvas", { "aria-hidden": "true" });
    const scroll = make("div", { class: "hl-scroll", tabindex: "0", role: "application" }, canvas);
    const table = make("table");
    const root = make("div", { class: "hl-mask" }, title, framed(scroll),
      make("div", { class: "hl-unseen" }, table));
    for (const name of ["pointermove", "click", "keydown"]) {
      scroll.addEventListener(name, () => this.enter(n));
    }
    this.listen(scroll);
    this.row.append(root);
    return { root, title, canvas, scroll, table, squares: group([]) };
  }

  enter(panel: number) {
    if (panel !== this.active) this.at = null;
    this.active = panel;
    ({ scroll: this.scroll, canvas: this.canvas } = this.panels[panel]);
  }

  arrange(frame: number) {
    const { data: { grids, legend }, panels } = this;
    const plan = planMasks(grids, frame, heightInSight(), this.measure);
    const [width, height] = extent(plan, grids[0]); // a batch is padded: all are alike
    this.plan = { ...plan, width, height };
    grids.forEach((grid, n) => {
      panels[n].squares = gridMarks(grid, plan, this.look());
    });
    this.legend.replaceChildren(...legend.map(([code, words]) => {
      const canvas = make("canvas", { "aria-hidden": "true" });
      paint(sized(canvas, SIDE, SIDE), this.sample(code), this.theme.font);
      return make("span", { class: "hl-legend" }, canvas, make("span", {}, words));
    }));
  }

  look() {
    const { data: { color, asNumbers }, theme } = this;
    return { color, asNumbers, theme };
  }

  sample(code: number) {
    return squareMarks(code, this.look(), { x: 0, y: 0, side: SIDE });
  }

  draw() {
    if (!this.plan) return;
    this.panels.forEach(({ canvas }, n) => {
      const context = sized(canvas, ...extent(this.plan, this.data.grids[n]));
      paint(context, this.marksOf(n, this.at), this.theme.font);
    });
    const { left, top } = this.canvas.getBoundingClientRect();
    const [x, y] = pointIn({ clientX: left, clientY: top }, this.frame);
    this.showTip({ x: -x, y: -y });
  }

  marksOf(n: number, at: Square | null) {
    const { data, plan, theme, measure } = this;
    const [sentence, row] = data.chosen;
    return maskMarks({
      grid: data.grids[n], plan, theme, measure,
      squares: this.panels[n].squares,
      chosen: sentence === n ? row : null, at: n === this.active ? at : null,
    });
  }

  marks() {
    return [];
  }

  sheet() {
    const { data: { grids, legend }, plan: { width, height }, theme } = this;
    const [across, down] = [width + SHEET.apart, height + SHEET.title + SHEET.apart];
    const columns = within(Math.floor(SHEET.widest / across), 1, grids.length);
    return {
      width: columns * across - SHEET.apart,
      height: Math.ceil(grids.length / columns) * down - SHEET.apart,
      legend: legend.flatMap(([code, words]) =>
        [{ width: SIDE, marks: this.sample(code) }, words]),
      marks: grids.map((grid, n) => group([
        text({ text: grid.title, x: 0, y: 14, size: 14, weight: 600, fill: theme.ink }),
        group(this.marksOf(n, null), { y: SHEET.title }),
      ], { x: (n % columns) * across, y: Math.floor(n / columns) * down })),
    };
  }

  under(event: MouseEvent) {
    return this.plan ? this.hit(...pointIn(event, this.canvas)) : null;
  }

  squares() {
    const { square, left, top } = this.plan;
    const { queries, keys } = this.data.grids[this.active];
    return { left, top, wide: square, high: square, rows: queries.length, keys: keys.length };
  }

  /** Beside a row's word stands the first square of the row. */
  hit(x: number, y: number) {
    return super.hit(Math.max(x, this.plan.left), y);
  }

  press(key: string) {
    if (key !== "Enter" && key !== " ") return super.press(key);
    const at = this.start();
    this.pick(at);
    this.live.textContent = `row ${quote(this.data.grids[this.active].queries[at.row])} chosen`;
    return true;
  }

  pick({ row }: Square) {
    this.options.onSelect?.([this.active, row]);
  }

  words({ row, key }: Square) {
    const { grids, reasons } = this.data;
    const { names, keys } = grids[this.active];
    const code = rowOf(grids[this.active], row)[key ?? 0];
    const [query, other] = [names[row], quote(keys[key ?? 0])];
    return [
      code ? `${query} may not see ${other}: ${reasons[code]}.` : `${query} may see ${other}.`,
      ADDED[code ? 1 : 0],
    ];
  }

  tipNodes(at: Square) {
    const [seen, added] = this.words(at);
    const lines = this.data.grids[this.active].faded[at.row]
      ? [added, "Nothing reads the row of padding itself."] : [added];
    return [seen, ...lines.map((line) => make("div", {}, line))];
  }
}
