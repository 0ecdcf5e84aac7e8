// Figure 1 at work: its boxes light in their order, the encoder's once, then the decoder's for one
// subword after the other. Beside them stands what the lit box does. Stepped without the host.

import { ARROWS, button, isShortcut, isStill, make } from "../core/dom.ts";
import { digits, isolate, SPECIAL, within } from "../core/text.ts";
import type { ModelBox, ModelData, ModelPlan } from "./plan.ts";

/** A lit box, and the number of the subword that the decoder writes there; −1 in the encoder. */
interface Moment { box: string; word: number }

// ms of a box while its sentence is read, of one in a later subword, of the softmax there, and of
// the subword's way back to the foot
const PACE = { read: 1400, pass: 90, softmax: 900, back: 700 };
const BAR = { over: 8, high: 16.5 }; // CSS pixels
const ENDS = "decoder.softmax";
const FOOT = "decoder.tokens";
const PLAYS = "data-figure-plays"; // of the page, whose open box belongs to no lit one meanwhile

let hasPlayed = false; // by itself, since the app was opened

export function momentsOf(boxes: Pick<ModelBox, "name" | "sentences">[]): Moment[] {
  const [encoder, decoder] = ["encoder.", "decoder."].map((stack) =>
    boxes.filter(({ name }) => name.startsWith(stack)));
  const words = decoder[0]?.sentences.length ?? 0;
  return [
    ...encoder.map(({ name }) => ({ box: name, word: -1 })),
    ...Array.from({ length: words }, (_, word) =>
      decoder.map(({ name }) => ({ box: name, word }))).flat(),
  ];
}

/** Compute the share of a box's rows that the model has still to compute.
 * @param moment null when all is written */
export function missingShare(name: string, names: string[], moment: Moment | null, rows: number) {
  if (!moment) return 0;
  const isPassed = names.indexOf(name) <= names.indexOf(moment.box);
  if (name.startsWith("encoder.")) return isPassed ? 0 : 1;
  const done = moment.word < 0 ? 0 : moment.word + (isPassed ? 1 : 0);
  return 1 - done / rows;
}

export const durationOf = ({ box, word }: Moment) =>
  (word < 1 ? PACE.read : box === ENDS ? PACE.softmax : PACE.pass) + (box === ENDS ? PACE.back : 0);

/** The picture that is played: its data and places, the buttons of its boxes. */
interface Stage {
  data: ModelData;
  plan: ModelPlan;
  box: HTMLElement;
  buttons: Map<string, HTMLButtonElement>;
  open(name: string): void;
}

export class Playback {
  declare view: Stage;
  back = button("◀", () => this.go(this.step - 1), { "aria-label": "One box back" });
  play = button("▶ Play", () => this.toggle());
  on = button("▶|", () => this.go(this.step + 1), { "aria-label": "One box on" });
  count = make("span", { class: "hl-player-count" });
  says = make("p", { class: "hl-arch-says", "aria-live": "polite" });
  bars = make("ol", { class: "hl-arch-bars" });
  word = make("span", { class: "hl-arch-word", "aria-hidden": "true", hidden: "" });
  panel = make("div", { class: "hl-arch-panel", role: "group", "aria-label": "Player" },
    make("div", { class: "hl-player-controls" }, this.back, this.play, this.on, this.count),
    this.says);
  moments: Moment[] = [];
  step = 0; // the number of moments when all is written
  timer = 0; // of the next moment while it plays
  isUnasked = false; // whether it plays by itself
  texts = "";
  declare remove: () => void;

  constructor(view: Stage) {
    this.view = view;
    this.panel.addEventListener("keydown", (event) => {
      if (!isShortcut(event) && this.press(event.key)) event.preventDefault();
    });
    // else letting the space bar go would press the button that has the focus, too
    this.panel.addEventListener("keyup", (event) => event.key === " " && event.preventDefault());
    /** A reader who acts is not played under. */
    const stop = (event: Event) => {
      const path = event.composedPath();
      // elsewhere a box that opened would take the page away under what is clicked
      if (this.isUnasked && !path.includes(this.panel)) this.pause(path.includes(this.view.box));
    };
    for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, stop, true);
    this.remove = () => {
      clearTimeout(this.timer);
      document.documentElement.toggleAttribute(PLAYS, false);
      for (const name of ["pointerdown", "keydown"]) document.removeEventListener(name, stop, true);
    };
  }

  update({ boxes, playing, selected }: ModelData) {
    this.panel.hidden = this.bars.hidden = !playing;
    const texts = JSON.stringify(playing && [playing.source, playing.read]);
    const [isNew, isFirst] = [texts !== this.texts, !this.texts];
    this.texts = texts;
    this.moments = playing ? momentsOf(boxes) : [];
    if (!isNew) return;
    clearTimeout(this.timer);
    this.timer = 0;
    this.step = this.moments.length;
    if (!isFirst || !playing || hasPlayed) return;
    this.step = playing.starts ? 0 : this.stepOf(selected);
    this.isUnasked = playing.starts && !isStill();
    if (this.isUnasked) queueMicrotask(() => this.start());
  }

  arrange({ free, narrow, layout }: ModelPlan) {
    const { box } = this.view;
    const place = { left: `${free.x}px`, width: `${free.width}px` };
    this.panel.classList.toggle("hl-arch-free", !narrow);
    Object.assign(this.panel.style, narrow ? { left: "", width: "" } : place);
    Object.assign(this.bars.style, place);
    (narrow ? box : this.panel).append(this.bars);
    box.append(this.word);
    box.style.setProperty("--hl-strip", `${layout.strip}px`);
    box.style.setProperty("--hl-words", `${layout.words}px`);
    this.render();
  }

  get moment() {
    return this.moments[this.step] ?? null;
  }

  /** Find the moment of a box: of the subword that is being written, else of the first one. */
  stepOf(name: string) {
    const word = Math.max(0, this.moment?.word ?? 0);
    return this.moments.findIndex((at) => at.box === name && (at.word < 0 || at.word === word));
  }

  toggle() {
    if (this.timer) this.pause();
    else this.start();
  }

  start() {
    if (!this.moment) this.step = 0;
    this.play.textContent = "❚❚ Pause";
    this.says.setAttribute("aria-live", "off"); // a screen reader could not keep up
    document.documentElement.toggleAttribute(PLAYS, true);
    this.run();
  }

  run() {
    const { moment } = this;
    if (!moment) {
      this.pause();
      return;
    }
    const lasts = durationOf(moment);
    this.timer = window.setTimeout(() => {
      this.step += 1;
      this.run();
    }, lasts);
    if (moment.box === ENDS && !isStill()) this.sendBack(moment.word, lasts - PACE.back);
    this.render();
  }

  pause(opens = true) {
    clearTimeout(this.timer);
    this.timer = 0;
    hasPlayed ||= this.isUnasked;
    this.isUnasked = false;
    this.word.hidden = true;
    this.play.textContent = "▶ Play";
    this.says.setAttribute("aria-live", "polite");
    document.documentElement.toggleAttribute(PLAYS, false);
    this.render();
    if (opens && this.moment) this.view.open(this.moment.box); // where it is lit, it is read about
  }

  go(step: number) {
    this.step = within(step, 0, this.moments.length);
    this.pause();
  }

  press(key: string): boolean {
    if (key === " ") this.toggle();
    else if (key in ARROWS) this.go(this.step + ARROWS[key][0] - ARROWS[key][1]);
    else if (key === "Home") this.go(0);
    else if (key === "End") this.go(this.moments.length);
    else return false;
    return true;
  }

  render() {
    const { moment, view: { data: { boxes, playing }, buttons, plan } } = this;
    if (!playing || !plan) return;
    const { read, source, last, steps } = playing;
    const names = boxes.map(({ name }) => name);
    for (const [name, { classList, style }] of buttons) {
      classList.toggle("hl-lit", name === moment?.box);
      style.setProperty("--hl-missing", String(missingShare(name, names, moment, read.length)));
    }
    const word = moment?.word ?? -1;
    const write = (name: string, tokens: string[]) =>
      buttons.get(name)?.toggleAttribute("data-tokens", !!moment)
        && buttons.get(name)?.setAttribute("data-tokens", tokens.map(isolate).join(" "));
    write("encoder.tokens", source);
    write(FOOT, [...(word > 2 ? ["…"] : []), ...read.slice(Math.max(0, word - 2), word + 1)]);
    // a disabled button would lose the focus, and with it the arrow keys
    this.back.setAttribute("aria-disabled", String(!this.step));
    this.on.setAttribute("aria-disabled", String(!moment));
    this.count.textContent = !moment ? "" : word < 0 ? "encoder"
      : `subword ${word + 1} of ${read.length}`;
    // where boxes are lit too shortly to be read about, the subword's first sentence stays
    const isPassing = this.timer && word > 0 && moment?.box !== ENDS;
    const about = boxes.find(({ name }) => name === (isPassing ? FOOT : moment?.box));
    const [title, text, paper] = about
      ? [`${about.title}: `, about.sentences[Math.max(0, word)], ` ${about.paper}`]
      : ["", last, ""];
    if (title + text + paper !== this.says.textContent) { // a screen reader hears it once
      this.says.replaceChildren(make("strong", {}, title), text, make("small", {}, paper));
    }
    const step = moment?.box === ENDS ? steps[word] : null;
    const { offsetTop, offsetHeight } = this.says;
    const room = plan.narrow ? Infinity : plan.free.foot - offsetTop - offsetHeight - BAR.over;
    const shown = Math.max(Math.floor(room / BAR.high), 1 + (step?.taken ?? 0));
    this.bars.replaceChildren(...(step?.options ?? []).slice(0, shown).map(({ label, p }, n) => {
      const bar = make("span", { class: "hl-arch-bar", style: `--hl-p: ${p}` });
      const name = n === step?.taken ? "hl-arch-taken" : "";
      return make("li", { class: name }, make("bdi", {}, SPECIAL.get(label) ?? label), bar,
        digits(p));
    }));
  }

  /** Move the subword that is written from the softmax to the foot, where it is read next. */
  sendBack(word: number, delay: number) {
    const { data: { playing }, plan: { boxes, layout, width } } = this.view;
    if (!playing || word + 1 === playing.read.length) return;
    const { options, taken } = playing.steps[word];
    this.word.textContent = isolate(options[taken].label);
    const edge = boxes[ENDS].x + boxes[ENDS].width;
    this.word.style.right = `${Math.max(0, width - edge - layout.side)}px`;
    this.word.hidden = false;
    const way = [ENDS, FOOT].map((name) => ({ transform: `translateY(${boxes[name].y}px)` }));
    this.word.animate(way, { delay, duration: PACE.back, easing: "ease-in-out", fill: "both" })
      .finished.then(() => { this.word.hidden = true; }, () => {});
  }
}
