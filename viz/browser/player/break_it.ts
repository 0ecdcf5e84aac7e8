// Break it: a slider removes the heads that a sentence needs most, one after another, and what the
// model writes then stands in the picture. The host computes; what has come is stepped here.

import { button, make } from "../core/dom.ts";
import { counted, KIND_TITLES } from "../core/labels.ts";
import { fixed, within } from "../core/text.ts";
import { readWeights, type Side } from "../core/trace.ts";
import { type Changes, changedRow, changedWords } from "./changes.ts";
import { WINDOW, writtenOf } from "./from_trace.ts";
import type { Head, KindData, RowPart } from "./plan.ts";
import { titleOf } from "./sentences.ts";

const PACE = 700; // ms between two heads

type Maps = Pick<KindData, "kind" | "weights" | "whole" | "size">;

/** A server sends those that are drawn alone. */
const readMaps = (maps: Maps): Maps =>
  ({ ...maps, weights: readWeights(maps.weights), whole: maps.whole ?? maps.size });

interface Removal { // one head more
  head: Head;
  log_p: number; // of the original translation
  maps: Maps[] | null; // where its heads look, if sent
  // of as many random heads: log P of each draw, and whether the first one's text is the same
  control: { log_p: number[]; same: boolean } | null;
}

/** The heads that are removed so far, as `encode_broken` of viz/draw/player.py sends them. */
export interface Broken {
  target: Side; // the translation that it is about
  total: number; // heads in the order in the end
  log_p: number; // with all heads
  places: (Removal & { target: Side })[]; // with what the model writes then
  note: string; // where it stands in the queue, or why there is nothing
}

interface ShownRemoval extends Removal {
  row: RowPart[]; // what the model writes now, and what it lost
  written: string[]; // its subwords, after the token that it begins with
  text: string; // the same as a sentence
  changes: ReturnType<typeof changedWords>;
}

type Shown = Omit<Broken, "places"> & { places: ShownRemoval[] };

interface Player {
  changed: () => void; // draw the picture again
  ask: (count: number | null) => void; // of the host: so many heads; null ends it
}

let made = 0; // so that each has an id of its own

export class BreakIt {
  open: HTMLButtonElement;
  slider = make("input", { type: "range", min: 0, step: 1, "aria-label": "Heads removed" });
  count = make("span", { class: "hl-break-count" });
  marks = make("datalist"); // on the slider: the first changed word, and where the text breaks
  control = make("p", { class: "hl-break-control", "aria-live": "polite" });
  restore: HTMLButtonElement;
  line: HTMLElement;
  root: HTMLElement;
  data: Shown | null = null;
  shown = 0; // heads that the picture lacks
  plays = false; // until the text plainly changes
  isOpen = false;
  heard = ""; // what the lines below the slider say
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
    this.marks.id = `hl-break-marks-${++made}`;
    this.slider.setAttribute("list", this.marks.id);
    this.line = make("div", { class: "hl-player-controls" }, make("strong", {}, "Break it"),
      this.slider, this.marks, this.count, this.restore);
    const closed = make("div", { class: "hl-player-controls" }, this.open);
    this.root = make("div", { class: "hl-break", hidden: "" }, closed, this.line, this.control);
  }

  /** @param linked heads that a link removes; null where nothing is broken */
  begin(linked: number | null) {
    this.close();
    this.isOpen = linked !== null;
    this.shown = linked ?? 0;
    this.plays = linked === 0;
  }

  stop() {
    window.clearTimeout(this.timer);
    this.timer = 0;
  }

  close() {
    const wasUsed = this.isOpen || this.data !== null;
    this.stop();
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
    this.shown = Math.min(this.shown, data.total); // a link may ask for more
    // the host begins anew where it is asked for another number of heads; their order stays
    const known = this.data?.places ?? [];
    const places = data.places.map(({ target, maps, ...place }, n): ShownRemoval => ({
      ...place, text: target.text, written: writtenOf(target).slice(0, WINDOW + 1),
      row: changedRow(data.target, target, WINDOW), changes: changedWords(data.target, target),
      maps: maps?.map(readMaps) ?? known[n]?.maps ?? null,
    }));
    this.data = { ...data, places: [...places, ...known.slice(places.length)] };
    this.draw();
    this.player.changed();
    this.step();
  }

  /** Remove one head more, until the text plainly changes or all are removed. */
  step() {
    if (!this.plays || this.timer || !this.data) return;
    const { places, total } = this.data;
    if (this.now?.changes.plain || this.shown >= total) {
      this.plays = false;
      this.player.ask(this.shown);
    } else if (this.shown < places.length) {
      this.timer = window.setTimeout(() => {
        this.timer = 0;
        this.shown += 1;
        this.draw();
        this.player.changed();
        this.step();
      }, this.shown ? PACE : 0);
    }
  }

  go(count: number) {
    this.plays = false;
    this.stop();
    this.shown = count;
    this.draw();
    this.player.changed(); // what the picture shows has its places before anything is asked
    this.player.ask(count);
  }

  /** What the picture shows: of heads that are still computed, those that have come. */
  get places(): ShownRemoval[] {
    return this.data?.places.slice(0, this.shown) ?? [];
  }

  get removed(): Head[] {
    return this.places.map(({ head }) => head);
  }

  get now(): ShownRemoval | undefined {
    return this.places.at(-1);
  }

  draw() {
    this.open.hidden = this.isOpen;
    this.line.hidden = this.control.hidden = !this.isOpen;
    const { data, places } = this;
    const total = data?.total ?? 24;
    this.slider.max = String(total);
    this.slider.value = String(within(this.shown, 0, total));
    this.count.textContent = data ? `${places.length} of ${total} removed` : "";
    const all = data?.places ?? [];
    const marked = [all.findIndex(({ changes }) => changes.lost + changes.new > 0),
      all.findIndex(({ changes }) => changes.plain)];
    this.marks.replaceChildren(...marked.filter((n) => n >= 0 && n < Math.max(1, this.shown))
      .map((n) => make("option", { value: n + 1 })));
    const [note, ...figures] = this.isOpen ? this.lines(data, places) : [""];
    const heard = note + figures.flat().join();
    if (heard === this.heard) return;
    this.heard = heard;
    this.control.replaceChildren(note, ...figures.map(([figure, rest]) =>
      make("span", {}, make("strong", {}, figure), rest)));
  }

  /** Say what is done, or compare two figures, each with what it is of. */
  lines(data: Shown | null, places: ShownRemoval[]): [string, ...[string, string][]] {
    if (data && this.shown && places.length === this.shown) {
      return ["", ...compared(data, places)];
    }
    return [this.note(data, places)];
  }

  note(data: Shown | null, places: ShownRemoval[]): string {
    if (!data) return "Computing which heads this sentence needs most …";
    if (data.note) return data.note;
    if (this.shown) return `Removing head ${places.length + 1} of ${this.shown} …`;
    return this.plays ? "Removing the head that this sentence needs most …"
      : "All heads are there. Move the slider to remove one.";
  }
}

/** Compare how probable the first translation is without these heads and without random ones. */
function compared({ log_p: before }: Shown, places: ShownRemoval[]): [string, string][] {
  const { head, log_p: after, changes, control } = places[places.length - 1];
  const count = places.length;
  const lines: [string, string][] = [[
    `Without ${count === 1 ? "this head" : `these ${count} heads`}`,
    ` the first translation is ${timesOf(before - after)}; ${changesText(changes)} (log P ${
      fixed(before, 2)} → ${fixed(after, 2)}; last: ${KIND_TITLES[head.kind]} ${titleOf(head)}).`,
  ]];
  if (control) {
    const draws = [...control.log_p].sort((a, b) => a - b);
    const last = draws.length - 1;
    const [low, middle, high] = [0, Math.floor(last / 2), last].map((n) => draws[n]);
    const values = draws.length === 1 ? `one draw: log P ${fixed(middle, 2)}`
      : `middle of ${draws.length} draws: log P ${fixed(low, 2)} to ${fixed(high, 2)}`;
    lines.push([`Without ${counted(count, "random head")}`, ` it is ${timesOf(before - middle)}; `
      + `${control.same ? "no word changes" : "words change, too"} (${values}).`]);
  }
  return lines;
}

export function changesText({ lost, new: added, moved }: Changes) {
  if (lost + added) return `${counted(lost, "word")} lost, ${added} new`;
  return moved ? "words only change places" : "no word changes";
}

/** Say by which factor something is less probable, from a difference of log probabilities. */
export function timesOf(nats: number): string {
  const factor = Number(Math.exp(Math.abs(nats)).toPrecision(2));
  // by hand: a browser takes longer to make its first Intl.NumberFormat than to draw a picture
  const [unit, name] = factor < 1e6 ? [1, ""] : factor < 1e9 ? [1e6, " million"]
    : [1e9, " billion"];
  const amount = String(Number((factor / unit).toPrecision(2)));
  const shown = factor > 1e12 ? "over a trillion"
    : `${amount.replace(/(?=\d{3}$)\B/, ",")}${name}`;
  return shown === "1" ? "as probable as before"
    : `${shown} times ${nats > 0 ? "less" : "more"} probable`;
}
