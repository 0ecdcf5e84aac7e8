// Break it: a slider removes the heads that a sentence needs most, one after another, and what the
// model writes then stands in the picture. The host computes; what has come is stepped here.

import { button, make } from "../core/dom.ts";
import { fixed, within } from "../core/text.ts";
import type { Head, RowPart } from "./plan.ts";
import { titleOf } from "./sentences.ts";

const PACE = 700; // ms between two heads

/** One head more removed, as `encode_broken` of viz/draw/player.py sends it. */
interface Removed {
  head: Head;
  log_p: number; // of the original translation
  row: RowPart[]; // what the model writes now
  text: string; // the same as a sentence
  // of as many random heads: log P over several draws, and whether the first one's text is the same
  control: { low: number; middle: number; high: number; draws: number; same: boolean } | null;
}

export interface Broken {
  written: string[]; // the translation that it is about
  total: number; // heads in the order in the end
  log_p: number; // with all heads
  places: Removed[]; // so far
  note: string; // where it stands in the queue, or why there is nothing
}

interface Player {
  changed: () => void; // draw the picture again
  ask: (count: number | null) => void; // of the host: so many heads; null ends it
}

export class BreakIt {
  open: HTMLButtonElement;
  slider = make("input", { type: "range", min: 0, step: 1, "aria-label": "Heads removed" });
  count = make("span", { class: "hl-break-count" });
  control = make("p", { class: "hl-break-control hl-quiet", "aria-live": "polite" });
  restore: HTMLButtonElement;
  line: HTMLElement;
  root: HTMLElement;
  data: Broken | null = null;
  shown = 0; // heads that the picture lacks
  plays = false; // until a word changes
  isOpen = false;
  timer = 0;
  player: Player;

  constructor(player: Player) {
    this.player = player;
    this.open = button("Break it: remove the heads this sentence needs most", () => {
      this.plays = this.isOpen = true;
      this.player.ask(0);
      this.draw();
      this.slider.focus();
    }, { class: "hl-break-open" });
    this.restore = button("Restore", () => {
      this.end();
      this.open.focus();
    });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    this.line = make("div", { class: "hl-break-line" }, make("strong", {}, "Break it"),
      this.slider, this.count, this.restore);
    this.root = make("div", { class: "hl-break", hidden: "" }, this.open, this.line, this.control);
  }

  /** @param linked heads that a link removes; null where nothing is broken */
  begin(linked: number | null) {
    this.close();
    this.isOpen = linked !== null;
    this.shown = linked ?? 0;
    this.plays = linked === 0;
  }

  close() {
    const wasUsed = this.isOpen || this.data !== null;
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.data = null;
    this.shown = 0;
    this.plays = this.isOpen = false;
    this.draw();
    if (wasUsed) this.player.changed();
  }

  /** Give all heads back. @returns whether any could be removed */
  end(): boolean {
    const { isOpen } = this;
    if (isOpen) {
      this.close();
      this.player.ask(null);
    }
    return isOpen;
  }

  follow(data: Broken | null) {
    if (!this.isOpen || !data) return; // the host takes it away between two answers
    // the host begins anew where it is asked for another number of heads; their order stays
    const known = this.data?.places ?? [];
    this.data = known.length > data.places.length ? { ...data, places: known } : data;
    this.step();
    this.draw();
    this.player.changed();
  }

  /** Remove one head more, until a word changes or all are removed. */
  step() {
    if (!this.plays || this.timer || !this.data) return;
    const { places, total } = this.data;
    const changes = this.shown > 0 && isChanged(places[this.shown - 1]?.row ?? []);
    if (changes || this.shown >= total) {
      this.plays = false;
      this.player.ask(this.shown);
    } else if (this.shown < places.length) {
      this.timer = window.setTimeout(() => {
        this.timer = 0;
        this.shown += 1;
        this.step();
        this.draw();
        this.player.changed();
      }, this.shown ? PACE : 0);
    }
  }

  go(count: number) {
    this.plays = false;
    window.clearTimeout(this.timer);
    this.timer = 0;
    this.shown = count;
    this.player.ask(count);
    this.draw();
    this.player.changed();
  }

  /** What the picture shows: of heads that are still computed, those that have come. */
  get places(): Removed[] {
    return this.data?.places.slice(0, this.shown) ?? [];
  }

  get removed(): Head[] {
    return this.places.map(({ head }) => head);
  }

  get now(): Removed | undefined {
    return this.places.at(-1);
  }

  draw() {
    this.open.hidden = this.isOpen;
    this.line.hidden = this.control.hidden = !this.isOpen;
    const { data, places } = this;
    const total = data?.total ?? 24;
    this.slider.max = String(total);
    this.slider.value = String(within(this.shown, 0, total));
    this.count.textContent = `${places.length} of ${total} heads removed`;
    const text = this.isOpen ? this.sentence(data, places) : "";
    if (text !== this.control.textContent) this.control.textContent = text;
  }

  sentence(data: Broken | null, places: Removed[]): string {
    if (!data) return "Computing which heads this sentence needs most …";
    if (!this.shown && !this.plays) {
      return data.note || "All heads are there. Move the slider to remove one.";
    }
    if (!this.shown) return data.note || "Removing the head that this sentence needs most …";
    if (places.length < this.shown) {
      return data.note || `Removing head ${places.length + 1} of ${this.shown} …`;
    }
    const { head, log_p: after, row, control } = places[places.length - 1];
    const same = isChanged(row) ? "" : " No word changes.";
    const first = `Last removed: ${NAMES[head.kind]} ${titleOf(head)}.${same} The original `
      + `translation is ${timesOf(data.log_p - after)} probable (log P `
      + `${fixed(data.log_p, 2)} → ${fixed(after, 2)}).`;
    if (!control) return first;
    const range = control.draws === 1 ? `log P ${fixed(control.middle, 2)}`
      : `${fixed(control.low, 2)} to ${fixed(control.high, 2)} in ${control.draws} draws`;
    const words = control.same ? "" : "; the text changes, too";
    const heads = `${places.length} random ${places.length === 1 ? "head" : "heads"}`;
    return `${first} Control, ${heads}: ${timesOf(data.log_p - control.middle)} probable `
      + `(${range})${words}.`;
  }
}

const NAMES = {
  encoder_self: "encoder self-attention", decoder_self: "decoder self-attention",
  cross: "cross-attention",
};

/** Say by which factor something is less probable, from a difference of log probabilities. */
function timesOf(nats: number): string {
  const factor = Math.exp(Math.abs(nats));
  const shown = factor < 1e6 ? Number(factor.toPrecision(2)).toLocaleString("en")
    : `10^${Math.round(Math.abs(nats) / Math.LN10)}`;
  return shown === "1" ? "equally" : `${shown} times ${nats > 0 ? "less" : "more"}`;
}

export const isChanged = (row: RowPart[]) => row.some((part) => "text" in part || part.lost);
