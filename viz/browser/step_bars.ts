// The pieces that were written, one beside the other, and under each what the model held probable
// in its place, over bars of one scale. Pointer and arrow keys are answered here; the host hears
// only what is chosen.

import { boxAt, fillTable, MOVES } from "./core/dom.ts";
import { PictureView, type Scene } from "./core/picture_view.ts";
import { type Mark, type Place, rect, text } from "./core/scene.ts";
import {
  digits, forHand, isolate, logText, number, quote, shortened, within,
} from "./core/text.ts";
import type { Measure } from "./core/theme.ts";

interface Option { raw: string; label: string; p: number }
interface BarAt { step: number; row: number }

interface StepsData { // the message of `encode_bars` in viz/draw/alternatives.py
  title: string;
  note: string;
  steps: Option[][]; // the written piece first
}

type BarsPlan = ReturnType<typeof planBars>; // `column` is a width, and so that of a bar of 1

const FONT = { written: 15, other: 14, number: 12 };
const ROW = { first: 44, other: 34, text: 18, bar: 5, pad: 6 }; // heights
const COLUMN = { least: 78, most: 126, gap: 16 };
const NUMBER = 38; // room of a probability, and air before it
const TRACK = 0.14; // opacity
const FILLED = { written: 1, rather: 0.7, other: 0.45 };
const HELP = "Left and right move along the sentence, up and down over the alternatives of a "
  + "step; Enter forces one.";

export function planBars({ steps }: StepsData, measure: Measure) {
  const wideOf = (label: string, row: number) =>
    Math.ceil(row ? measure(label, FONT.other, 400) : measure(label, FONT.written, 600));
  const widest = Math.max(...steps.flatMap((step) =>
    step.map(({ label }, row) => wideOf(label, row))));
  const column = within(widest + NUMBER + 2 * ROW.pad, COLUMN.least, COLUMN.most);
  const room = column - NUMBER - 2 * ROW.pad;
  const most = Math.max(...steps.map((step) => step.length));
  return {
    column,
    texts: steps.map((step) => step.map(({ label }, row) =>
      shortened(label, room, (part) => wideOf(part, row)))),
    width: steps.length * (column + COLUMN.gap) - COLUMN.gap,
    height: ROW.first + (most - 1) * ROW.other,
  };
}

export const leftOf = ({ column }: BarsPlan, step: number) => step * (column + COLUMN.gap);
export const topOf = (row: number) => (row ? ROW.first + (row - 1) * ROW.other : 0);
export const heightOf = (row: number) => (row ? ROW.other : ROW.first - ROW.pad);

type BarsScene = Scene<StepsData, BarsPlan, BarAt>;

export function barMarks(scene: BarsScene, [first, last]: [first: number, last: number]): Mark[] {
  return scene.data.steps.slice(first, last + 1).flatMap((options, n) =>
    options.flatMap((option, row) =>
      line(scene, { step: first + n, row }, option, option.p > options[0].p)));
}

/** @param rather whether it is more probable than what was written */
function line(scene: BarsScene, at: BarAt, { p }: Option, rather: boolean): Mark[] {
  const { plan, theme } = scene;
  const { step, row } = at;
  const [x, y, width] = [leftOf(plan, step), topOf(row), plan.column];
  const fill = row && !rather ? theme.quiet : theme.ink;
  const pointed = scene.at?.step === step && scene.at.row === row;
  const level = row ? (rather ? FILLED.rather : FILLED.other) : FILLED.written;
  const middle = y + ROW.pad + ROW.text / 2;
  const bar = {
    x: x + ROW.pad, y: y + ROW.pad + ROW.text + 1, height: row ? ROW.bar : ROW.bar + 2,
    fill: theme.ink,
  };
  const whole = width - 2 * ROW.pad;
  return [
    ...(pointed ? [rect({
      x, y: y + 2, width, height: heightOf(row) - 2, fill: theme.ink, opacity: 0.09,
    })] : []),
    text({
      text: isolate(plan.texts[step][row]), x: x + ROW.pad, y: middle, middle: true, fill,
      size: row ? FONT.other : FONT.written, weight: row ? 400 : 600,
    }),
    text({
      text: digits(p), x: x + width - ROW.pad, y: middle, middle: true, fill, anchor: "end",
      size: FONT.number,
    }),
    rect({ ...bar, width: whole, opacity: TRACK }),
    rect({ ...bar, width: p * whole, opacity: level }),
  ];
}

export class StepBars extends PictureView<StepsData, BarAt, BarsPlan> {
  picks = true;

  constructor() {
    super();
    this.scroll.classList.add("hl-bars");
  }

  update() {
    const { steps, title, note } = this.data;
    if (this.setTexts(steps.map(([written]) => written.raw))) this.at = null;
    this.describe(title, HELP, note);
    fillTable(this.table, title, ["Step", "Piece", "Probability", "Alternatives"],
      steps.map(([first, ...others], n) => [String(n + 1), first.label, number(first.p),
        others.map(({ label, p }) => `${label} ${number(p)}`).join(", ")]));
  }

  arrange() {
    this.plan = planBars(this.data, this.measure);
    this.setRoom();
  }

  marks(at: BarAt | null, { x, width }: Place) {
    const step = leftOf(this.plan, 1);
    return barMarks(this.scene(at), [Math.floor(x / step), Math.floor((x + width) / step)]);
  }

  sheet() {
    return { name: "steps" };
  }

  hit(x: number, y: number) {
    const { data: { steps }, plan } = this;
    const step = Math.floor(x / leftOf(plan, 1));
    if (!steps[step] || x < 0 || y < 0 || x - leftOf(plan, step) >= plan.column) return null;
    const row = y < ROW.first ? 0 : 1 + Math.floor((y - ROW.first) / ROW.other);
    return row < steps[step].length ? { step, row } : null;
  }

  draw() {
    super.draw();
    if (!this.at?.row) this.scroll.style.cursor = "";
  }

  /** The prefix identifies the steps of a choice. */
  pick({ step, row }: BarAt) {
    if (!row) return;
    const { steps } = this.data;
    const prefix = [...steps.slice(0, step).map(([written]) => written), steps[step][row]]
      .map(({ raw }) => raw).join("");
    this.options.onSelect?.({ step, alternative: row - 1, prefix });
  }

  target(key: string) {
    const { data: { steps }, at } = this;
    if (!(key in MOVES)) return null;
    if (!at) return { step: key === "End" ? steps.length - 1 : 0, row: 0 };
    const [right, down] = MOVES[key];
    const step = within(at.step + right, 0, steps.length - 1);
    return { step, row: within(at.row + down, 0, steps[step].length - 1) };
  }

  boxOf({ step, row }: BarAt) {
    return boxAt(leftOf(this.plan, step), topOf(row), this.plan.column, heightOf(row));
  }

  sentence({ step, row }: BarAt) {
    const options = this.data.steps[step];
    const { label, p } = options[row];
    const place = row ? `alternative ${row} of ${options.length - 1}` : "written";
    return `Step ${step + 1}, ${place}: ${quote(label)}, probability ${number(p)}`;
  }

  tipNodes({ step, row }: BarAt) {
    const { label, p } = this.data.steps[step][row];
    const numbers = `p ${number(p)} · log probability ${logText(Math.log(p))}`;
    return [`${quote(label)} ${numbers}${row ? forHand(" · click to force it") : ""}`];
  }
}
