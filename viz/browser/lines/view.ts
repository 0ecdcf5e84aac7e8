// Every head over all sentences: its mean weight at each relative position, its role, and a measure
// from the sentence where it is lowest to the one where it is highest: a panel for each kind, a row
// for each head. Pointer and keys are answered here; the page hears which head or which sentence is
// to be opened.

import {
  type Colors, legend, legendNodes, type Palette, type Raster, rasterOf, type Scaling,
} from "../core/color.ts";
import { button, fillTable, make, MOVES } from "../core/dom.ts";
import { PictureView, type Scene, TALLEST } from "../core/picture_view.ts";
import { circle, type Mark, picture, rect, text } from "../core/scene.ts";
import { figure, number, within } from "../core/text.ts";
import type { Kind } from "../attention_map/plan.ts";
import type { Measure, ThemeName } from "../core/theme.ts";
import type { Message } from "../core/wire.ts";
import type { Head } from "../head_grid/plan.ts";

/** A measure over the sentences: its mean, and where it differs between them, their standard
 * deviation, and the lowest and the highest with the number of the sentence that has it. */
type OverSentences =
  [mean: number, deviation?: number, lowest?: [number, number], highest?: [number, number]];

export interface HeadRow { // one head over all sentences
  layer: number; // from 0, like head
  head: number;
  name: string;
  role: string; // "" where nothing dominates
  roles: [role: string, count: number][]; // in how many sentences it has which
  values: Record<string, OverSentences>; // by measure
}

export interface SummaryPart { // the heads of one kind
  kind: Kind;
  title: string;
  color: string;
  heads: HeadRow[];
  columns: number; // of the profile: the first is all that lies farther back
  profile: Float64Array; // `[head, column]`
  palette: Palette;
}

export interface Sentence {
  number: number; // of its line, from 1
  source: string;
  target: string;
  logP: number | null;
  length: number; // pieces of both sides
  unlike: number; // how far heads of a kind differ from each other
  sides: [name: string, code: string][]; // source and target, with their languages' codes
}

export interface LinesData { // the message of `encode_lines` in viz/lines.py
  selected: Head; // the head that each sentence opens with; -1 stands for a mean
  together: boolean; // whether a row is of all heads of a layer
  amount: string; // what is summed up, in a word: weight or share
  reach: number; // the farthest distance with a column of its own
  measures: Record<string, string>; // their explanations
  sentences: Sentence[];
  parts: SummaryPart[];
}

/** List the heads of a part in the order in which they stand, by their numbers in it.
 * @param measure by which they are sorted, largest first; null for by layer */
export function orderOf({ heads }: SummaryPart, measure: string | null) {
  const numbers = heads.map((_, n) => n);
  if (measure == null) return numbers;
  const value = (n: number) => heads[n].values[measure][0];
  return numbers.sort((a, b) => value(b) - value(a) || a - b);
}

export const foremost = ({ parts }: LinesData, measure: string, count: number) =>
  parts.flatMap((part) =>
    part.heads.map((head) => ({ part, head, value: head.values[measure][0] })))
    .sort((a, b) => b.value - a.value).slice(0, count);

export function distanceOf(column: number, reach: number) {
  const distance = column - reach - 1;
  if (distance < -reach) return `more than ${reach} before`;
  if (distance > reach) return `more than ${reach} after`;
  if (distance === 0) return "at the same position";
  return `${Math.abs(distance)} ${distance < 0 ? "before" : "after"}`;
}

export const ROW = 18; // height of a head, CSS pixels
const LETTERS = { title: 14, words: 12, axis: 10 };
const HEAD = { title: 10, axis: 32, rows: 42 }; // from the panel's top
const CELL = { most: 17, least: 10, phone: 5 };
const RANGE = 72; // width of the measure's scale
const GAP = { words: 10, panels: 36, below: 24 };
const SIDE = 6; // of the mark beside the open head

export type SummaryPlan = ReturnType<typeof planSummary>;
/** `strip`, `role` and `range` are where profiles, roles and the measure's scale begin. */
export type Panel = SummaryPlan["panels"][number];

/** A head, and the column of its profile. */
export interface SummaryAt { panel: number; row: number; column: number | null }

/** @param sortedBy a measure; null for by layer */
export function planSummary(
  parts: SummaryPart[], sortedBy: string | null, width: number, measure: Measure,
) {
  const sizes = parts.map((part) => sizeOf(part, measure));
  const columns = parts.reduce((sum, part) => sum + part.columns, 0);
  const words = sizes.reduce((sum, { name, role }) => sum + name + role + RANGE, 0);
  const fit = Math.floor((width - SIDE - words - (parts.length - 1) * GAP.panels) / columns);
  const stacked = fit < CELL.least;
  let [x, y] = [SIDE, 0];
  const panels = parts.map((part, n) => {
    const { name, role } = sizes[n];
    const own = Math.floor((width - SIDE - name - role - RANGE) / part.columns);
    const cell = within(stacked ? own : fit, CELL.phone, CELL.most);
    const strip = x + name;
    const after = strip + cell * part.columns;
    const panel = {
      part, rows: orderOf(part, sortedBy), x, y, strip, cell, role: after + GAP.words,
      range: after + role, width: after + role + RANGE - x,
      height: HEAD.rows + ROW * part.heads.length,
    };
    if (stacked) y += panel.height + GAP.below;
    else x += panel.width + GAP.panels;
    return panel;
  });
  return {
    panels, stacked,
    width: Math.max(...panels.map((panel) => panel.x + panel.width)),
    height: Math.max(...panels.map((panel) => panel.y + panel.height)),
  };
}

function sizeOf({ heads }: SummaryPart, measure: Measure) {
  const widest = (texts: string[]) =>
    Math.ceil(Math.max(...texts.map((words) => measure(words, LETTERS.words, 600))));
  return {
    name: widest(heads.map(({ name }) => name)) + GAP.words,
    role: widest(heads.map(({ role }) => role)) + 2 * GAP.words,
  };
}

export const topOf = ({ y }: { y: number }, row: number) => y + HEAD.rows + row * ROW;

const POINT = 3; // radius of a mean
const NARROW = 10; // a column, whose number would touch the next one's
const LABELLED = 4; // every so manyth distance has a number

type SummaryScene = Scene<LinesData, SummaryPlan, SummaryAt>
  & Pick<HeadSummary, "rasters" | "open"> & { name: string }; // of the measure

export function rasterOfPanel({ part, rows }: Panel, theme: ThemeName) {
  const { columns, profile, palette } = part;
  return rasterOf(columns, rows.length, palette[theme], (n) => {
    const weight = profile[rows[Math.floor(n / columns)] * columns + (n % columns)];
    return Math.round(255 * Math.sqrt(within(weight, 0, 1)));
  });
}

/** Find both ends of a measure over all heads and sentences, one scale for all kinds. */
function endsOf({ parts }: LinesData, measure: string): [number, number] {
  const values = parts.flatMap(({ heads }) => heads.flatMap(({ values: measures }) => {
    const [mean, , lowest, highest] = measures[measure];
    return lowest && highest ? [lowest[0], highest[0]] : [0, mean];
  }));
  return [Math.min(...values), Math.max(...values)];
}

export function summaryMarks(scene: SummaryScene): Mark[] {
  const ends = endsOf(scene.data, scene.name);
  return scene.plan.panels.flatMap((panel, n) => [
    ...headOf(scene, panel, ends),
    ...pointed(scene, panel, n),
    ...strips(scene, panel, n),
    ...panel.rows.flatMap((head, row) => rowOf(scene, panel, head, row, ends)),
  ]);
}

function headOf(
  { data: { reach }, theme, name }: SummaryScene, panel: Panel, [low, high]: [number, number],
): Mark[] {
  const { part, x, y, strip, cell, range } = panel;
  const axis = y + HEAD.axis;
  const quiet = { y: axis, size: LETTERS.axis, fill: theme.quiet, middle: true };
  const distances = Array.from({ length: part.columns }, (_, column) => column - reach - 1);
  const labels = distances.flatMap((distance, column) => {
    const beyond = Math.abs(distance) > reach;
    const crowded = cell < NARROW && Math.abs(distance) === reach; // beside what is beyond
    const words = beyond ? "…"
      : distance % LABELLED || crowded ? "" : String(distance).replace("-", "−");
    return words ? [text({
      ...quiet, text: words, x: strip + (column + 0.5) * cell, anchor: "middle",
      weight: distance ? 400 : 600,
    })] : [];
  });
  return [
    circle({ x: x + 5, y: y + HEAD.title, radius: 5, fill: part.color }),
    text({
      text: part.title, x: x + 16, y: y + HEAD.title, size: LETTERS.title, weight: 600,
      middle: true, fill: theme.ink,
    }),
    ...labels,
    text({ ...quiet, text: figure(round(low)), x: range }),
    text({ ...quiet, text: figure(round(high)), x: range + RANGE, anchor: "end" }),
    text({
      ...quiet, text: name, x: range + RANGE, y: y + HEAD.title, size: LETTERS.words,
      anchor: "end",
    }),
  ];
}

const round = (value: number) => Number(value.toPrecision(2));

function strips({ rasters, theme }: SummaryScene, panel: Panel, n: number): Mark[] {
  const { strip, cell, part, rows } = panel;
  const [width, height, top] = [cell * part.columns, ROW * rows.length, topOf(panel, 0)];
  const fill = theme.paper; // a hair of paper between the heads
  return [
    picture({ raster: rasters[n], x: strip, y: top, width, height, title: part.title }),
    ...rows.slice(1).map((_, row) =>
      rect({ x: strip, y: top + (row + 1) * ROW - 1, width, height: 2, fill })),
    ...Array.from({ length: part.columns - 1 }, (_, column) =>
      rect({ x: strip + (column + 1) * cell - 0.5, y: top, width: 1, height, fill })),
  ];
}

function pointed({ theme, at, open }: SummaryScene, panel: Panel, n: number): Mark[] {
  const { x, width, part, rows } = panel;
  const marks = rows.flatMap((head, row) => {
    const { layer, head: place } = part.heads[head];
    const isOpen = open?.[0] === part.kind && open[1] === layer && open[2] === place;
    return isOpen ? [rect({
      x: x - 5, y: topOf(panel, row) + 2, width: 3, height: ROW - 4, fill: theme.ink,
    })] : [];
  });
  if (at?.panel !== n) return marks;
  return [...marks, rect({
    x: x - 2, y: topOf(panel, at.row), width: width + 6, height: ROW, fill: theme.ink,
    opacity: 0.09,
  })];
}

function rowOf(
  { theme, name, at, plan }: SummaryScene, panel: Panel, nth: number, row: number,
  [low, high]: [number, number],
): Mark[] {
  const { part, x, role, range } = panel;
  const head = part.heads[nth];
  const middle = topOf(panel, row) + ROW / 2;
  const strong = at && plan.panels[at.panel] === panel && at.row === row;
  const place = (value: number) => range + (high > low ? (value - low) / (high - low) : 0) * RANGE;
  const [mean, deviation = 0, lowest, highest] = head.values[name];
  const [from, to] = lowest && highest ? [lowest[0], highest[0]] : [low, mean];
  const words = { y: middle, size: LETTERS.words, middle: true, fill: theme.ink };
  const [first, last] = [place(Math.max(low, mean - deviation)),
    place(Math.min(high, mean + deviation))];
  return [
    text({ ...words, text: head.name, x, weight: strong ? 600 : 400 }),
    text({ ...words, text: head.role, x: role }),
    rect({
      x: place(from), y: middle - 0.5, width: place(to) - place(from), height: 1,
      fill: theme.quiet,
    }),
    rect({
      x: first, y: middle - 2, width: last - first, height: 4, fill: part.color, opacity: 0.45,
    }),
    circle({ x: place(mean), y: middle, radius: POINT, fill: part.color }),
  ];
}

const FOREMOST = 3;
const UNLIKE = "unlike others"; // as MEASURES in head_summary.py has it
const CHANGES = "changes"; // as VARIES in lines.py

export class HeadSummary extends PictureView<LinesData, SummaryAt, SummaryPlan> {
  static read({ meta, arrays, shapes }: Message): LinesData {
    const partOf = (part: any) => ({
      ...part,
      columns: shapes[`${part.kind}.profile`][1],
      profile: arrays[`${part.kind}.profile`],
      palette: { light: arrays[`${part.kind}.light`], dark: arrays[`${part.kind}.dark`] },
    });
    const sentenceOf = ([line, source, target, logP, length, unlike, sides]: any[]) =>
      ({ number: line, source, target, logP, length, unlike, sides });
    return { ...meta, sentences: meta.sentences.map(sentenceOf), parts: meta.parts.map(partOf) };
  }

  title = make("h2", { class: "hl-title" });
  choice = make("select");
  sorted = make("input", { type: "checkbox" });
  says = make("span", { class: "hl-says" });
  menu = make("div", { class: "hl-choices" },
    make("label", {}, "Measure ", this.choice),
    make("label", {}, this.sorted, " sort by it"), this.says);
  legend = make("span", { class: "hl-legend" });
  foremost = make("dl", { class: "hl-foremost" });
  open: Head | null = null; // the head that the explorer shows
  picks = true;
  rasters: Raster[] = []; // of the panels

  constructor() {
    super();
    this.root.prepend(this.title, this.menu);
    this.root.insertBefore(this.foremost, this.unseen);
    this.note.after(this.legend);
    for (const input of [this.choice, this.sorted]) {
      input.addEventListener("change", () => {
        this.at = null;
        this.layOut();
      });
    }
  }

  update() {
    const { measures, selected, parts } = this.data;
    const { title, note, help, columns } = wordsOf(this.data);
    this.open = selected;
    this.title.textContent = title;
    this.choice.replaceChildren(...Object.keys(measures).map((name) => make("option", {}, name)));
    this.describe(title, help, note);
    this.foremost.replaceChildren(...this.differences());
    const names = Object.keys(measures);
    fillTable(this.table, `${title}, means`, [...columns, ...names],
      parts.flatMap((part) => part.heads.map((head, n) => [
        part.title, head.name, head.role || "none", this.strongest(part, n),
        ...names.map((name) => short(head.values[name][0])),
      ])));
  }

  strongest({ columns, profile }: SummaryPart, head: number) {
    const row = profile.subarray(head * columns, (head + 1) * columns);
    const column = row.indexOf(Math.max(...row));
    return `${number(row[column])} ${distanceOf(column, this.data.reach)}`;
  }

  differences() {
    const { data } = this;
    const words = wordsOf(data);
    const heads = (measure: string) =>
      foremost(data, measure, FOREMOST).map(({ part, head, value }) =>
        button(`${head.name} · ${part.title} ${value.toFixed(2)}`, () => this.selectHead(
          [part.kind, head.layer, head.head])));
    const sentences = [...data.sentences].sort((a, b) => b.unlike - a.unlike).slice(0, FOREMOST);
    const links = sentences.map(({ number: line, unlike }) =>
      make("a", { href: `#${line}` }, `#${line} ${unlike.toFixed(2)}`));
    return [
      [words.unlike, heads(UNLIKE)],
      [words.changes, heads(CHANGES)],
      [words.sentences, links],
    ].flatMap(([term, nodes]) => [
      make("dt", {}, term as string),
      make("dd", {}, ...nodes as Node[]),
    ]);
  }

  selectHead(head: Head) {
    this.mark(head);
    this.options.onSelect?.(head);
  }

  mark(head: Head | null) {
    this.open = head;
    this.draw();
  }

  arrange(width: number) {
    const { data, theme, sorted, choice } = this;
    this.plan = planSummary(data.parts, sorted.checked ? choice.value : null, width,
      this.measure);
    // stacked panels are a phone's, where a frame that scrolls in a page that scrolls is a trap
    this.setFrame(width, this.plan.stacked ? 2 * TALLEST : TALLEST);
    this.rasters = this.plan.panels.map((panel) => rasterOfPanel(panel, theme.name));
    this.says.textContent = data.measures[choice.value];
    this.legend.replaceChildren(...legendNodes(...this.scaling()));
  }

  scaling(): [Scaling, Colors] {
    const { amount, parts: [{ palette }] } = this.data;
    return [
      { scale: "square root", threshold: 0, signed: false, amount }, palette[this.theme.name],
    ];
  }

  marks(at: SummaryAt | null) {
    const { rasters, open, choice } = this;
    return summaryMarks({ ...this.scene(at), rasters, open, name: choice.value });
  }

  sheet() {
    const { data, rasters, choice } = this;
    return {
      name: `${wordsOf(data).unit}s over all sentences`, note: "",
      legend: legend(...this.scaling()), lines: [`${choice.value}: ${this.says.textContent}.`],
      marks: summaryMarks({ ...this.scene(null), rasters, open: null, name: choice.value }),
    };
  }

  hit(x: number, y: number) {
    const { panels } = this.plan;
    const panel = panels.findIndex((place) =>
      x >= place.x && x < place.x + place.width && y >= place.y && y < place.y + place.height);
    if (panel < 0) return null;
    const { rows, strip, cell, part } = panels[panel];
    const row = Math.floor((y - topOf(panels[panel], 0)) / ROW);
    if (row < 0 || row >= rows.length) return null;
    const column = Math.floor((x - strip) / cell);
    return { panel, row, column: column >= 0 && column < part.columns ? column : null };
  }

  headAt({ panel, row }: SummaryAt) {
    const { part, rows } = this.plan.panels[panel];
    return { part, head: part.heads[rows[row]], n: rows[row] };
  }

  pick(at: SummaryAt) {
    const { part, head } = this.headAt(at);
    this.live.textContent = `${head.name} of ${part.title} is open`;
    this.selectHead([part.kind, head.layer, head.head]);
  }

  /** Up and down lead over all heads, left and right over the distances. */
  target(key: string) {
    const [{ panels }, { at }] = [this.plan, this];
    if (!(key in MOVES)) return null;
    if (!at) return { panel: 0, row: 0, column: null };
    const { panel, row, column } = at;
    const { rows, part } = panels[panel];
    const across = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (across) {
      const to = column == null ? (across > 0 ? 0 : -1) : column + across;
      return { panel, row, column: to < 0 ? null : Math.min(to, part.columns - 1) };
    }
    if (key === "Home") return { panel, row: 0, column };
    if (key === "End") return { panel, row: rows.length - 1, column };
    const to = row + (key === "ArrowUp" ? -1 : 1);
    if (to >= 0 && to < rows.length) return { panel, row: to, column };
    const next = panel + Math.sign(to - row);
    if (!panels[next]) return at;
    const last = panels[next].part.columns - 1;
    return {
      panel: next, row: to < 0 ? panels[next].rows.length - 1 : 0,
      column: column == null ? null : Math.min(column, last),
    };
  }

  sentence(at: SummaryAt) {
    return this.words(at).join(". ");
  }

  words(at: SummaryAt) {
    const { part, head, n } = this.headAt(at);
    const name = `${head.name} · ${part.title}`;
    if (at.column != null) {
      const weight = part.profile[n * part.columns + at.column];
      return [`${name}: ${distanceOf(at.column, this.data.reach)}`, number(weight)];
    }
    const roles = head.roles.map(([role, count]) =>
      `${role || "none"} in ${count.toLocaleString("en")}`).join(", ");
    return [name, measured(this.choice.value, head), `Role by sentence: ${roles}`];
  }

  boxOf(at: SummaryAt) {
    const panel = this.plan.panels[at.panel];
    const top = topOf(panel, at.row);
    const left = at.column == null ? panel.x : panel.strip + at.column * panel.cell;
    const right = at.column == null ? panel.strip : left + panel.cell;
    return { left, top, right, bottom: top + ROW };
  }

  tipNodes(at: SummaryAt) {
    const [name, ...lines] = this.words(at);
    return [name, ...lines.map((line) => make(at.column == null ? "div" : "strong", {}, line))];
  }
}

const short = (value: number) => figure(Number(value.toPrecision(3)));

function measured(name: string, { values }: HeadRow) {
  const [mean, deviation, lowest, highest] = values[name];
  if (deviation == null || !lowest || !highest) return `${name} ${short(mean)}`;
  const [from, to] = [lowest, highest].map(([value, line]) => `${short(value)} in #${line}`);
  return `${name} ${short(mean)} ± ${short(deviation)}, from ${from} to ${to}`;
}

export function wordsOf({ together, amount }: Pick<LinesData, "together" | "amount">) {
  const unit = together ? "layer" : "head";
  const many = together ? "Layers" : "Heads";
  return {
    unit,
    title: `Each ${unit} over all sentences`,
    note: `Each strip is one ${unit}: the mean ${amount} at each position relative to the one that `
      + "looks; … is all beyond. Beside it its role, and the measure: its mean, one standard "
      + "deviation between sentences, and from the lowest sentence to the highest.",
    help: `Up and down move over the ${unit}s, left and right over the positions, Enter opens a `
      + `${unit} in the sentence below.`,
    unlike: `${many} most unlike the others of their kind`,
    changes: `${many} that change most between sentences`,
    sentences: `Sentences in which ${unit}s differ most from each other`,
    columns: ["Kind", together ? "Layer" : "Head", "Role", `Most ${amount}`],
  };
}
