// The pieces that were written, one beside the other, and under each what the model held probable
// in its place. Pointer and arrow keys are answered here; the host hears only what is chosen.

import { tableOf } from "../core/dom.js";
import { group } from "../core/scene.js";
import { PictureView } from "../core/picture_view.js";
import { logText, number, quote, within } from "../core/text.js";
import { choiceOf } from "./data.js";
import { barMarks } from "./marks.js";
import { heightOf, hitBars, leftOf, planBars, topOf } from "./plan.js";

/** @import { Visible } from "../core/picture_view.js" */
/** @import { BarAt, StepsData } from "./data.js" */
/** @import { BarsPlan } from "./plan.js" */

const HELP = "Left and right move along the sentence, up and down over the alternatives of a "
  + "step; Enter forces one.";

/** @extends {PictureView<StepsData, BarAt, BarsPlan>} */
export class StepBars extends PictureView {
  constructor() {
    super();
    this.scroll.classList.add("hl-bars");
    this.picks = true;
  }

  update() {
    const { steps, title, note } = this.data;
    if (this.setTexts(steps.map(([written]) => written.raw))) this.at = null;
    this.setLabel(title, HELP);
    this.note.textContent = note;
    this.table.replaceChildren(...tableOf(title, ["Step", "Piece", "Probability", "Alternatives"],
      steps.map(([first, ...others], n) => [String(n + 1), first.label, number(first.p),
        others.map(({ label, p }) => `${label} ${number(p)}`).join(", ")])));
  }

  arrange() {
    this.plan = planBars(this.data, this.measure);
    this.setRoom();
  }

  /** @param {Visible} visible */
  marks({ x, y, width }) {
    const { plan } = this;
    const step = leftOf(plan, 1);
    const steps = /** @type {[number, number]} */ (
      [Math.floor(x / step), Math.floor((x + width) / step)]);
    return [group(barMarks({ ...this.scene(), at: this.at, steps }), { x: -x, y: -y })];
  }

  scene() {
    const { data, plan, theme } = this;
    return { data, plan, theme };
  }

  sheet() {
    const { title, note, steps } = this.data;
    return {
      name: "steps", title, note,
      marks: barMarks({ ...this.scene(), at: null, steps: [0, steps.length - 1] }),
    };
  }

  /** @param {number} x @param {number} y */
  hit(x, y) {
    return hitBars(this.data, this.plan, x, y);
  }

  draw() {
    super.draw();
    if (!this.at?.row) this.scroll.style.cursor = "";
  }

  /** @param {BarAt} at */
  pick(at) {
    if (at.row) this.options.onSelect?.(choiceOf(this.data, at));
  }

  /** @param {string} key */
  target(key) {
    return moved(this.at, key, this.data.steps);
  }

  /** @param {BarAt} at */
  boxOf({ step, row }) {
    const [left, top] = [leftOf(this.plan, step), topOf(row)];
    return { left, top, right: left + this.plan.column, bottom: top + heightOf(row) };
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
    const numbers = `p ${number(p)} · log P ${logText(Math.log(p))}`;
    return [`${quote(label)} ${numbers}${row ? " · click to force it" : ""}`];
  }
}

/**
 * Find the bar that a key leads to.
 * @param {BarAt | null} at
 * @param {string} key
 * @param {ArrayLike<unknown>[]} steps
 * @returns {BarAt | undefined}
 */
export function moved(at, key, steps) {
  const arrows = { ArrowLeft: 1, ArrowRight: 1, ArrowUp: 1, ArrowDown: 1, Home: 1, End: 1 };
  if (!(key in arrows)) return undefined;
  if (!at) return { step: key === "End" ? steps.length - 1 : 0, row: 0 };
  const by = { ArrowLeft: -1, ArrowRight: 1, Home: -steps.length, End: steps.length };
  const step = within(at.step + (by[/** @type {keyof by} */ (key)] ?? 0), 0, steps.length - 1);
  const down = { ArrowUp: -1, ArrowDown: 1 }[key] ?? 0;
  return { step, row: within(at.row + down, 0, steps[step].length - 1) };
}
