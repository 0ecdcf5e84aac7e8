// The pieces that were written, one beside the other, and under each what the model held probable
// in its place, over bars of one scale. Pointer and arrow keys are answered here; the host hears
// only what is chosen.

import { boxAt, fillTable, MOVES } from "./core/dom.ts";
import { PictureView } from "./core/picture_view.ts";
import { rect, text } from "./core/scene.ts";
import {
  digits, forHand, isolate, logText, number, quote, shortened, within,
} from "./core/text.ts";

/** @import { Scene } from "./core/picture_view.ts" */
/** @import { Mark, Place } from "./core/scene.ts" */
/** @import { Measure } from "./core/theme.ts" */

/** A piece at a step. @typedef {{raw: string, label: string, p: number}} Option */
/** One of them: the step and its row, 0 for the piece that was written.
 * @typedef {{step: number, row: number}} BarAt */

/**
 * @typedef {object} StepsData the message of `encode_bars` in viz/draw/step_bars.py
 * @property {string} title
 * @property {string} note
 * @property {Option[][]} steps the written piece first
 *
 * @typedef {object} BarsPlan
 * @property {string[][]} texts of the pieces, cut where a column has no room
 * @property {number} column width, and so that of a bar of 1
 * @property {number} width
 * @property {number} height
 */

const FONT = { written: 15, other: 14, number: 12 };
const ROW = { first: 44, other: 34, text: 18, bar: 5, pad: 6 }; // heights
const COLUMN = { least: 78, most: 126, gap: 16 };
const NUMBER = 38; // room of a probability, and air before it
const TRACK = 0.14; // opacity
const FILLED = { written: 1, rather: 0.7, other: 0.45 };
const HELP = "Left and right move along the sentence, up and down over the alternatives of a "
  + "step; Enter forces one.";

/** @param {StepsData} data @param {Measure} measure @returns {BarsPlan} */
export function planBars({ steps }, measure) {
  /** @param {string} label @param {number} row */
  const wideOf = (label, row) =>
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

/** @param {BarsPlan} plan @param {number} step */
export const leftOf = ({ column }, step) => step * (column + COLUMN.gap);

/** @param {number} row */
export const topOf = (row) => (row ? ROW.first + (row - 1) * ROW.other : 0);

/** @param {number} row */
export const heightOf = (row) => (row ? ROW.other : ROW.first - ROW.pad);

/** @typedef {Scene<StepsData, BarsPlan, BarAt>} BarsScene */

/**
 * @param {BarsScene} scene
 * @param {[first: number, last: number]} steps that are to be seen
 * @returns {Mark[]}
 */
export function barMarks(scene, [first, last]) {
  return scene.data.steps.slice(first, last + 1).flatMap((options, n) =>
    options.flatMap((option, row) =>
      line(scene, { step: first + n, row }, option, option.p > options[0].p)));
}

/**
 * @param {BarsScene} scene
 * @param {BarAt} at
 * @param {Option} option
 * @param {boolean} rather whether it is more probable than what was written
 * @returns {Mark[]}
 */
function line(scene, at, { p }, rather) {
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

/** @extends {PictureView<StepsData, BarAt, BarsPlan>} */
export class StepBars extends PictureView {
  static sends = true;

  /** @param {import("./core/wire.ts").Message} message @returns {StepsData} */
  static read({ meta: { labels, pieces, ...meta }, arrays: { counts, probabilities } }) {
    let from = 0;
    const steps = Array.from(counts, (count) => {
      const first = from;
      from += count;
      return Array.from({ length: count }, (_, n) => ({
        raw: pieces[first + n], label: labels[first + n], p: probabilities[first + n],
      }));
    });
    return { ...meta, steps };
  }

  constructor() {
    super();
    this.scroll.classList.add("hl-bars");
    this.picks = true;
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

  /** @param {BarAt | null} at @param {Place} visible */
  marks(at, { x, width }) {
    const step = leftOf(this.plan, 1);
    return barMarks(this.scene(at), [Math.floor(x / step), Math.floor((x + width) / step)]);
  }

  sheet() {
    return { name: "steps" };
  }

  /** @param {number} x @param {number} y */
  hit(x, y) {
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

  /** The prefix identifies the steps of a choice. @param {BarAt} at */
  pick({ step, row }) {
    if (!row) return;
    const { steps } = this.data;
    const prefix = [...steps.slice(0, step).map(([written]) => written), steps[step][row]]
      .map(({ raw }) => raw).join("");
    this.options.onSelect?.({ step, alternative: row - 1, prefix });
  }

  /** @param {string} key */
  target(key) {
    const { data: { steps }, at } = this;
    if (!(key in MOVES)) return null;
    if (!at) return { step: key === "End" ? steps.length - 1 : 0, row: 0 };
    const [right, down] = MOVES[key];
    const step = within(at.step + right, 0, steps.length - 1);
    return { step, row: within(at.row + down, 0, steps[step].length - 1) };
  }

  /** @param {BarAt} at */
  boxOf({ step, row }) {
    return boxAt(leftOf(this.plan, step), topOf(row), this.plan.column, heightOf(row));
  }

  /** @param {BarAt} at */
  sentence({ step, row }) {
    const options = this.data.steps[step];
    const { label, p } = options[row];
    const place = row ? `alternative ${row} of ${options.length - 1}` : "written";
    return `Step ${step + 1}, ${place}: ${quote(label)}, probability ${number(p)}`;
  }

  /** @param {BarAt} at */
  tipNodes({ step, row }) {
    const { label, p } = this.data.steps[step][row];
    const numbers = `p ${number(p)} · log probability ${logText(Math.log(p))}`;
    return [`${quote(label)} ${numbers}${row ? forHand(" · click to force it") : ""}`];
  }
}
