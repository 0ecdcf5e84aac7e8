// The pieces that were written, one beside the other, and under each what the model held probable
// in its place. Pointer and arrow keys are answered here; the host hears only what is chosen.

import { tableOf } from "../core/dom.js";
import { reveal } from "../core/frame.js";
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
    this.written = "";
  }

  update() {
    const { steps, title, note } = this.data;
    const written = JSON.stringify(steps.map(([first]) => first.raw));
    if (written !== this.written) this.at = null;
    this.written = written;
    this.root.setAttribute("aria-label", title);
    this.scroll.setAttribute("aria-label", `${title}. ${HELP}`);
    this.note.textContent = note;
    this.table.replaceChildren(...tableOf(title, ["Step", "Piece", "Probability", "Alternatives"],
      steps.map(([first, ...others], n) => [String(n + 1), first.label, number(first.p),
        others.map(({ label, p }) => `${label} ${number(p)}`).join(", ")])));
  }

  arrange() {
    this.plan = planBars(this.data, this.measure);
    this.room.style.width = `${this.plan.width}px`;
    this.room.style.height = `${this.plan.height}px`;
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
    const { data: { title, note, steps }, plan: { width, height }, theme } = this;
    return {
      name: "steps", title, note, theme, width, height, lines: [], legend: [],
      marks: barMarks({ ...this.scene(), at: null, steps: [0, steps.length - 1] }),
    };
  }

  /** @param {number} x @param {number} y @param {Visible} visible */
  hit(x, y, visible) {
    return hitBars(this.data, this.plan, x + visible.x, y + visible.y);
  }

  draw() {
    super.draw();
    this.scroll.style.cursor = this.at?.row ? "pointer" : "";
  }

  /** @param {BarAt} at */
  pick(at) {
    if (at.row) this.options.onSelect?.(choiceOf(this.data, at));
  }

  /** @param {string} key */
  press(key) {
    if ((key === "Enter" || key === " ") && this.at) {
      this.pick(this.at);
      return true;
    }
    const to = moved(this.at, key, this.data.steps);
    if (!to) return false;
    reveal(this.scroll, this.boxOf(to));
    this.point(to);
    this.live.textContent = this.sentence(to);
    return true;
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
    const what = row ? `alternative ${row} of ${options.length - 1}` : "written";
    return `Step ${step + 1}, ${what}: ${quote(label)}, probability ${number(p)}`;
  }

  /** @param {BarAt} at @param {Visible} visible */
  tell({ step, row }, { x, y }) {
    const { label, p } = this.data.steps[step][row];
    const { left, top, right, bottom } = this.boxOf({ step, row });
    const how = `p ${number(p)} · log P ${logText(Math.log(p))}`;
    return {
      words: [`${quote(label)} ${how}${row ? " · click to force it" : ""}`],
      box: { left: left - x, top: top - y, right: right - x, bottom: bottom - y },
    };
  }
}

/**
 * The bar that a key leads to.
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
