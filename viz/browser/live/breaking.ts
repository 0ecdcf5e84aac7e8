// Break it: a slider fills the set of removed heads with those that the sentence needs most, one
// after another. They are removed as by a click, and a click gives each back.

import { button, make } from "../core/dom.ts";
import type { HeadPlace } from "../core/trace.ts";
import type { Ordered } from "../engine/messages.ts";
import type { Random } from "./figures.ts";
import type { LiveSentence } from "./sentence.ts";
import { changedWords } from "../player/changes.ts";

export const PLACES = 12; // heads that are removed one after another
const SEED = 1; // of the random heads beside them
const PACE = 700; // ms between two heads
const GLANCE = 350; // ms for which a translation is shown while the next heads are found

const isAmong = (places: HeadPlace[], place: HeadPlace) =>
  places.map(String).includes(String(place));

/** Count the heads at the beginning of an order that are removed. */
export function firstOf(order: HeadPlace[], removed: HeadPlace[]): number {
  const left = order.findIndex((place) => !isAmong(removed, place));
  return left < 0 ? order.length : left;
}

/** Remove so many heads of an order; what is removed beside them stays so. */
export const withFirst = (order: HeadPlace[], removed: HeadPlace[], count: number) =>
  [...removed.filter((place) => !isAmong(order, place)), ...order.slice(0, count)];

type Sentence = Pick<LiveSentence, "asked" | "edits" | "edit" | "order" | "whole" | "shown">;

export class Breaking {
  sentence: Sentence;
  open = button("Break it: remove the heads this sentence needs most", () => this.begin());
  slider = make("input", { type: "range", min: 0, "aria-label": "Heads removed" });
  count = make("span", { role: "status" });
  why = make("small");
  line = make("span", { class: "hl-break-line", hidden: "" }, make("strong", {}, "Break it"),
    this.slider, this.count, this.why);
  answer: Ordered | null = null; // the order so far
  wanted: number | null = null; // heads of it to remove; null before it is asked for
  removes = 0; // heads of it that were last removed
  since = 0; // ms, when heads were last removed
  plays = false; // until the text plainly changes
  timer = 0;

  constructor(root: HTMLElement, sentence: Sentence) {
    this.sentence = sentence;
    this.slider.addEventListener("input", () => this.remove(Number(this.slider.value)));
    root.append(this.open, this.line);
  }

  /** Count the heads that an order has: a small model has fewer. */
  get most() {
    const { kinds = [] } = this.sentence.shown ?? {};
    return Math.min(PLACES, kinds.reduce((sum, { layers, heads }) => sum + layers * heads, 0));
  }

  get order(): HeadPlace[] {
    return this.answer?.heads.map(({ place }) => place) ?? [];
  }

  /** Forget the order: another sentence has another one. */
  reset() {
    this.stop();
    this.answer = this.wanted = null;
    this.removes = 0;
    this.draw();
  }

  begin() {
    this.plays = true;
    this.wanted = this.removes + 1;
    this.advance();
    this.slider.focus();
  }

  stop() {
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.plays = false;
  }

  remove(count: number) {
    this.stop();
    this.wanted = count;
    this.advance();
  }

  hear(answer: Ordered) {
    this.answer = answer;
    this.advance();
  }

  /** The translation without the removed heads is shown. */
  follow() {
    const { removed } = this.sentence.edits;
    const count = this.order.filter((place) => isAmong(removed, place)).length;
    if (this.wanted !== null && count !== this.removes) { // by a click on a head
      this.stop();
      this.wanted = this.removes = count;
    }
    this.advance();
  }

  /** Remove what is wanted as far as the order is known, and ask for the rest of it. */
  advance() {
    const { sentence, sentence: { asked, edits, whole, shown }, wanted, order, timer } = this;
    if (wanted !== null && asked !== "translate") {
      const now = performance.now();
      const known = Math.min(wanted, order.length);
      const isSoon = known < wanted && now < this.since + GLANCE;
      const count = isSoon ? this.removes : known;
      const isThere = count === this.removes;
      this.removes = count;
      if (!isThere) {
        this.since = now;
        sentence.edit({ removed: withFirst(order, edits.removed, count) });
      } else if (!this.answer?.done) sentence.order(PLACES, SEED);
      if (isThere && this.plays && !timer && count === wanted && whole && shown) {
        if (wanted >= this.most || changedWords(whole.target, shown.target).plain) this.stop();
        else {
          this.timer = window.setTimeout(() => {
            this.timer = 0;
            this.wanted = wanted + 1;
            this.advance();
          }, PACE);
        }
      }
    }
    this.draw();
  }

  draw() {
    const { wanted, most, order: { length: known }, removes } = this;
    this.open.hidden = wanted !== null;
    this.line.hidden = wanted === null;
    if (wanted === null) return;
    this.slider.max = String(most);
    this.slider.value = String(wanted);
    this.why.textContent = "It stops when the words plainly change. Drag on to "
      + `${most}, as far as the page looks for heads.`;
    const [tried, all] = this.answer?.tried ?? [0, 0];
    const text = wanted <= known ? `${removes} of ${most} heads removed`
      : `finding head ${known + 1} of ${most}${tried ? `: ${tried} of ${all} tried` : ""} …`;
    if (this.count.textContent !== text) this.count.textContent = text;
  }

  /** Return the random heads beside those that are removed, where these are the first ones. */
  random(): Random | null {
    const { removed } = this.sentence.edits;
    const areFirst = firstOf(this.order, removed) === removed.length;
    return areFirst ? this.answer?.random[removed.length - 1] ?? null : null;
  }
}
