// The ribbons: what looks stands on the left, what is looked at on the right, and a ribbon
// between two words is as wide and as strong as the weight. Several heads lie over each other. All
// ribbons together are a layer that is drawn once; those of one token are drawn at each change.

import { choice, fillAxes, fillTable, make, MOVES } from "./core/dom.ts";
import { type Worded, worded } from "./core/labels.ts";
import { headColors } from "./core/palette.ts";
import { EDGE, PictureView, type Scene, TALLEST } from "./core/picture_view.ts";
import { group, type Group, type Mark, path, type Place, rect, text } from "./core/scene.ts";
import { isolate, looksMost, number, quote, tidy, within } from "./core/text.ts";
import type { Measure, ThemeName } from "./core/theme.ts";

type Side = "queries" | "keys";
interface Token { side: Side; index: number }

export interface RibbonData extends Worded { // of `encode_ribbons` in viz/draw/attention_map.py
  note: string;
  title: string; // what the heads share, such as `cross-attention · norms`
  heads: string[]; // their names
  colors: { light: string[]; dark: string[] }; // of the heads
  amount?: string; // how a ribbon's width is called, where it is not a weight
  from: number; // weights of less get no ribbon
  unused?: boolean[]; // the head is removed: its ribbons are dashed
  weights: Float32Array; // `[head, query, key]`
}

const FAINTEST = 0.01; // a thinner ribbon could not be seen, and there are thousands of them
const OTHER: Record<Side, Side> = { queries: "keys", keys: "queries" };

const weightOf = (
  { queries, keys, weights }: RibbonData, head: number, query: number, key: number,
) =>
  weights[(head * queries.length + query) * keys.length + key];

const pair = (token: Token, other: { index: number }): [query: number, key: number] =>
  (token.side === "queries" ? [token.index, other.index] : [other.index, token.index]);

interface Ribbon { head: number; query: number; key: number; weight: number }

/** The weights that are drawn as ribbons, the largest last and so on top.
 * @param token whose ribbons they are; all ribbons by default */
export function ribbonsOf(data: RibbonData, on: number[], token: Token | null): Ribbon[] {
  const span = (side: Side) => (token?.side === side ? [token.index] : [...data[side].keys()]);
  const [queries, keys] = [span("queries"), span("keys")];
  const ribbons = [];
  for (const head of on) {
    for (const query of queries) {
      for (const key of keys) {
        const weight = weightOf(data, head, query, key);
        if (weight >= data.from) ribbons.push({ head, query, key, weight });
      }
    }
  }
  return ribbons.sort((a, b) => a.weight - b.weight);
}

const ROW = { largest: 28, smallest: 16 };
const LETTERS = { largest: 14, smallest: 11 };
const RIBBONS = { widest: 14, least: 96 }; // a weight of 1, and the room between the lists
const EXACT = "0.0000"; // the widest number beside a word
const STEM = 6; // the mark beside a word that is picked

type RibbonPlan = ReturnType<typeof planRibbons>; // `lane` is the height of a head's part of a row

export function planRibbons(
  { queries, keys }: { queries: string[]; keys: string[] }, count: number, width: number,
  measure: Measure,
) {
  // the bold of a picked word is the widest
  const wideOf = (word: string) => measure(word, LETTERS.largest, 600);
  const rows = Math.max(queries.length, keys.length);
  const row = within(Math.floor(TALLEST / rows), ROW.smallest, ROW.largest);
  const font = within(Math.floor(row * 0.68), LETTERS.smallest, LETTERS.largest);
  const scale = font / LETTERS.largest;
  const room = (words: string[]) => Math.ceil(Math.max(...words.map(wideOf)) * scale) + EDGE + STEM;
  const left = room(queries);
  const wide = Math.max(width, left + RIBBONS.least + room(keys));
  const right = wide - room(keys);
  const column = Math.ceil(wideOf(EXACT) * scale) + EDGE;
  // numbers of all heads side by side where the ribbons keep some room, else the largest alone
  const all = right - left - count * column >= RIBBONS.least / 2;
  const lane = Math.min(RIBBONS.widest, (row * 0.8) / Math.max(1, count));
  return {
    row, font, left, right, column, lane, numbers: all ? count : 1,
    width: wide, height: rows * row,
  };
}

export const laneAt = ({ row, lane }: RibbonPlan, index: number, nth: number, count: number) =>
  (index + 0.5) * row + (nth - (count - 1) / 2) * lane;

const FADED = 0.68; // of a number whose ribbon is too faint to be drawn
const DASH = [4, 4]; // of a head that is removed
const GAP = 4; // between a list and its ribbons

type RibbonScene = Scene<RibbonData, RibbonPlan, Token> & Pick<Ribbons, "on" | "picked"> & {
  colors: string[]; // of the heads
  shown: Token | null; // whose ribbons are drawn; those of all where there is none
  ribbons: Mark;
  visible: Place;
};

export const ribbonMarks = (scene: RibbonScene): Mark[] => [
  scene.ribbons,
  ...wordMarks(scene, "queries"),
  ...wordMarks(scene, "keys"),
  ...(scene.shown ? numberMarks(scene, scene.shown) : []),
  ...pointed(scene),
];

export function curveMarks(
  { data, plan, colors, on, shown }:
  Pick<RibbonScene, "data" | "plan" | "colors" | "on" | "shown">,
  ribbons: Ribbon[],
): Group {
  const room = plan.numbers * plan.column;
  const left = tidy(plan.left + GAP + (shown?.side === "keys" ? room : 0));
  const right = tidy(plan.right - GAP - (shown?.side === "queries" ? room : 0));
  const middle = tidy((left + right) / 2);
  // a few ribbons can each be strong, thousands must not hide the strong ones in a haze
  const faint = shown ? 0.25 : within(20 / ribbons.length, 0.005, 0.08);
  const marks = ribbons.map(({ head, query, key, weight }) => {
    const nth = on.indexOf(head);
    const from = tidy(laneAt(plan, query, nth, on.length));
    const to = tidy(laneAt(plan, key, nth, on.length));
    return path({
      d: `M${left},${from}C${middle},${from} ${middle},${to} ${right},${to}`,
      stroke: colors[head], line: Math.max(0.75, weight * plan.lane),
      opacity: faint + (0.95 - faint) * weight,
      ...(data.unused?.[head] ? { dash: DASH } : {}),
    });
  });
  return group(marks, shown ? {} : { layer: [plan.width, plan.height] });
}

function wordMarks({ data, plan, theme, at, picked, visible }: RibbonScene, side: Side): Mark[] {
  const onLeft = side === "queries";
  return data[side].flatMap((token, index) => {
    if (!inFrame(plan, visible, index)) return [];
    const strong = is(at, side, index) || is(picked, side, index);
    return [text({
      text: isolate(token), x: onLeft ? plan.left - EDGE : plan.right + EDGE,
      y: (index + 0.5) * plan.row + 0.5, size: plan.font, weight: strong ? 600 : 400,
      anchor: onLeft ? "end" : "start", middle: true, fill: theme.ink,
    })];
  });
}

function numberMarks(
  { data, plan, theme, measure, colors, on, visible }: RibbonScene, shown: Token,
): Mark[] {
  const toKeys = shown.side === "queries";
  const first = toKeys ? plan.right - plan.numbers * plan.column : plan.left;
  return data[toKeys ? "keys" : "queries"].flatMap((_, index) => {
    if (!inFrame(plan, visible, index)) return [];
    const [query, key] = toKeys ? [shown.index, index] : [index, shown.index];
    const all = on.map((head) => ({ head, weight: weightOf(data, head, query, key) }));
    // where there is no room, the largest alone
    const written = plan.numbers === all.length ? all
      : [all.reduce((a, b) => (b.weight > a.weight ? b : a))];
    return written.flatMap(({ head, weight }, nth) => {
      const right = first + (nth + 1) * plan.column - 2;
      const middle = (index + 0.5) * plan.row;
      const words = weight > 0 && weight < 0.00005 ? "≈ 0" : number(weight);
      // a stroke of the head's colour under its number, which is in ink so that it can be read
      const figures = text({
        text: words, x: right, y: middle + 0.5, size: plan.font, anchor: "end", middle: true,
        fill: theme.ink, opacity: weight < data.from ? FADED : 1,
      });
      if (on.length < 2 || weight < data.from) return [figures];
      const width = measure(words, plan.font, 400);
      return [figures, rect({
        x: right - width, y: middle + plan.font / 2, width, height: 2, fill: colors[head],
      })];
    });
  });
}

function pointed({ plan, theme, at, picked }: RibbonScene): Mark[] {
  const [start, end] = at?.side === "queries" ? [0, plan.left] : [plan.right, plan.width];
  return [
    ...(picked ? [rect({
      x: picked.side === "queries" ? plan.left - STEM / 2 : plan.right,
      y: picked.index * plan.row + 3, width: STEM / 2, height: plan.row - 6, fill: theme.ink,
    })] : []),
    ...(at ? [rect({
      x: start, y: at.index * plan.row, width: end - start, height: plan.row, fill: theme.ink,
      opacity: 0.07,
    })] : []),
  ];
}

const inFrame = ({ row }: RibbonPlan, { y, height }: Place, index: number) =>
  (index + 1) * row >= y && index * row <= y + height;

const is = (token: Token | null, side: Side, index: number) =>
  token?.side === side && token.index === index;

const HELP = "Up and down move over the words, left and right change sides, Enter picks a word, "
  + "Escape lets it go.";

export class Ribbons extends PictureView<RibbonData, Token, RibbonPlan> {
  /** @param message with the least weight that has a ribbon, and the step to which weights are
   *   rounded, if they are */
  static read({ axes, threshold, steps, ...message }: any): RibbonData {
    const from = Math.max(threshold, FAINTEST);
    const rounded = steps ? `; numbers are steps of ${steps}` : "";
    const colors = (theme: ThemeName) => headColors(axes.kind, theme);
    return {
      ...message, ...worded(axes), from,
      note: `Weights under ${Number(from.toPrecision(6))} are not drawn${rounded}.`,
      colors: { light: colors("light"), dark: colors("dark") },
    };
  }

  switches = make("fieldset", { class: "hl-switches", "aria-label": "Heads" });
  axes = make("div", { class: "hl-axes" });
  dot = make("span", { class: "hl-dot" });
  inputs: HTMLInputElement[] = [];
  off = new Set<string>(); // kind and name, so that a head stays off when another sentence comes
  picked: Token | null = null;
  named = ""; // which heads the switches are of
  on: number[] = []; // the heads that are drawn
  all: Group | null = null; // ribbons of all tokens, made when they are needed

  constructor() {
    super();
    this.root.prepend(this.switches, this.axes);
  }

  update() {
    const { data } = this;
    // another sentence, other words
    if (this.setTexts([data.kind, data.queries, data.keys])) this.at = this.picked = null;
    this.describe(`Ribbons of ${data.heads.join(", ")}`, HELP, data.note);
    fillAxes(this.axes, axes(data));
    this.showSwitches();
    fillTable(this.table, `Where ${looksMost(data.amount)}`, [data.rows, ...data.heads],
      data.queries.map((token, index) => [token, ...data.heads.map((_, head) =>
        strongest(data, head, { side: "queries", index }).join(" "))]));
  }

  /** One switch for each head; they are made anew only for other heads, so they keep the focus. */
  showSwitches() {
    const { heads, title } = this.data;
    const ids = heads.map((name) => this.idOf(name));
    for (const id of this.off) if (!ids.includes(id)) this.off.delete(id); // taken away: comes on
    const named = [title, ...ids].join("\n");
    if (named === this.named) return;
    this.named = named;
    const choices = (heads.length > 1 ? ids : []).map((id, head) => {
      const { input, label } = choice({ type: "checkbox" }, make("span", {}, heads[head]));
      input.checked = !this.off.has(id);
      input.addEventListener("change", () => {
        this.off[input.checked ? "delete" : "add"](id);
        this.layOut();
      });
      return { input, label };
    });
    this.inputs = choices.map(({ input }) => input);
    // a head alone cannot be switched off
    this.switches.replaceChildren(...(heads.length > 1 ? choices.map(({ label }) => label)
      : [make("span", {}, this.dot, `${heads[0]} · ${title}`)]));
  }

  idOf(name: string) {
    return `${this.data.kind} ${name}`;
  }

  arrange(width: number) {
    const { heads } = this.data;
    const colors = this.data.colors[this.theme.name];
    this.inputs.forEach((input, head) => (input.style.accentColor = colors[head]));
    this.dot.style.background = colors[0];
    this.on = [...heads.keys()].filter((head) =>
      heads.length === 1 || !this.off.has(this.idOf(heads[head])));
    const plan = (room: number) => planRibbons(this.data, this.on.length, room, this.measure);
    this.fit(plan, width, TALLEST);
    this.all = null;
  }

  marks(at: Token | null, visible: Place) {
    const { data, plan, theme, on, picked } = this;
    const colors = data.colors[theme.name];
    // the token that is pointed at, but not beside a picked one
    const shown = picked && at?.side !== picked.side ? picked : at;
    const drawn = () => curveMarks({ data, plan, colors, on, shown }, ribbonsOf(data, on, shown));
    const ribbons = shown ? drawn() : (this.all ??= { ...drawn(), owner: this });
    return ribbonMarks({ ...this.scene(at), colors, on, picked, shown, ribbons, visible });
  }

  sheet() {
    const { data, theme, on } = this;
    const names = on.map((head) => data.heads[head]).join(", ");
    const title = [names, data.title].filter(Boolean).join(" · ");
    const colors = data.colors[theme.name];
    const dot = (head: number) => ({
      width: 10, gap: 5, marks: [rect({ x: 0, y: 0, width: 10, height: 10, fill: colors[head] })],
    });
    return {
      name: `${title} ribbons`, title,
      lines: axes(data).map((words) => words.join(" ")),
      legend: on.flatMap((head) => [dot(head), data.heads[head]]),
    };
  }

  hit(x: number, y: number): Token | null {
    const { data, plan: { row, left, right } } = this;
    const index = Math.floor(y / row);
    const side = x < left ? "queries" : x > right ? "keys" : null;
    return side && data[side][index] != null ? { side, index } : null;
  }

  pick({ side, index }: Token) {
    const again = this.picked?.side === side && this.picked.index === index;
    this.picked = again ? null : { side, index };
    this.draw();
  }

  press(key: string) {
    if (key === "Enter" || key === " ") {
      const at = this.start();
      this.pick(at);
      const state = this.picked ? "picked" : "let go";
      this.live.textContent = `${quote(this.data[at.side][at.index])} ${state}`;
    } else if (key === "Escape") {
      this.at = this.picked = null;
      this.draw();
    } else return super.press(key);
    return true;
  }

  start(): Token {
    return this.at ?? this.picked ?? { side: "queries", index: 0 };
  }

  target(key: string) {
    const { data, at } = this;
    const { side, index } = this.start();
    const last = data[side].length - 1;
    const other = OTHER[side];
    const beside = { side: other, index: Math.min(index, data[other].length - 1) };
    if (!(key in MOVES)) return null;
    const [right, down] = MOVES[key];
    if (right === -1) return side === "keys" ? beside : { side, index };
    if (right === 1) return side === "queries" ? beside : { side, index };
    return { side, index: within(right || (at || down < 0 ? index + down : index), 0, last) };
  }

  sentence(at: Token) {
    const { data, on } = this;
    const partner = this.partner(at);
    if (partner) {
      const [query, key] = pair(partner, at);
      const weights = on.map((head) =>
        `${data.heads[head]} ${number(weightOf(data, head, query, key))}`);
      return `${arrow(data, query, key)} ${weights.join(", ")}`;
    }
    const most = on.map((head) => {
      const [token, weight] = strongest(data, head, at);
      return `${data.heads[head]} ${quote(token)} ${weight}`;
    });
    const way = at.side === "queries" ? "→" : "←";
    return `${quote(data[at.side][at.index])} ${way} ${most.join(", ")}`;
  }

  boxOf({ side, index }: Token, columns = this.partner({ side }) ? this.plan.numbers : 0) {
    const { row, left, right, width, column } = this.plan;
    const numbers = columns * column;
    const [start, end] = side === "queries" ? [0, left + numbers] : [right - numbers, width];
    return { left: start, top: index * row, right: end, bottom: (index + 1) * row };
  }

  roomOf(at: Token) {
    return this.boxOf(at, 0);
  }

  partner({ side }: Pick<Token, "side">) {
    return this.picked && this.picked.side !== side ? this.picked : null;
  }

  tipNodes(at: Token) {
    const { data, on, theme } = this;
    const name = at.side === "queries" && data.rowNames?.[at.index];
    const partner = this.partner(at);
    const nodes: (Node | string)[] = [];
    if (partner) {
      const [query, key] = pair(partner, at);
      nodes.push(arrow(data, query, key), ...on.map((head) => {
        const dot = make("span", { class: "hl-dot" });
        dot.style.background = data.colors[theme.name][head];
        const weight = make("strong", {}, number(weightOf(data, head, query, key)));
        return make("div", {}, dot, data.heads[head], weight);
      }));
    }
    if (name) nodes.push(make("div", {}, `This step ${name}.`));
    return nodes.length ? nodes : null;
  }
}

const axes = (data: RibbonData) => [["Left ←", data.rows], ["Right →", data.columns]];

const arrow = ({ queries, keys }: RibbonData, query: number, key: number) =>
  `${quote(queries[query])} → ${quote(keys[key])}`;

function strongest(data: RibbonData, head: number, token: Token) {
  const others = data[OTHER[token.side]];
  const weights = others.map((_, index) => weightOf(data, head, ...pair(token, { index })));
  const most = Math.max(...weights);
  return [others[weights.indexOf(most)], number(most)];
}
