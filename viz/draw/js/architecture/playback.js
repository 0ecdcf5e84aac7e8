// Figure 1 at work: its boxes light in their order, the encoder's once, then the decoder's for one
// subword after the other. Beside them stands what the lit box does. Stepped without the host.

import { button, isShortcut, make } from "../core/dom.js";
import { digits, isolate, within } from "../core/text.js";
import { INSIDE } from "./plan.js";

/** @import { ModelBox, ModelData, ModelPlan } from "./plan.js" */
/** @import { Architecture } from "./view.js" */

/** A lit box, and the number of the subword that the decoder writes there; −1 in the encoder.
 * @typedef {{box: string, word: number}} Moment */

// ms of a box while its sentence is read, of one in a later subword, of the softmax there, and of
// the subword's way back to the foot
const PACE = { read: 1400, pass: 90, softmax: 900, back: 700 };
const ENDS = "decoder.softmax";
const GAP = 8; // between a box's title and the tokens beside it
const LEAST = 30; // room in which tokens are written

let hasPlayed = false; // by itself, since the app was opened

/** List the moments in their order.
 * @param {Pick<ModelBox, "name" | "sentences">[]} boxes from the foot up @returns {Moment[]} */
export function momentsOf(boxes) {
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
 * @param {string} name @param {string[]} names of all boxes in their order
 * @param {Moment | null} moment null when all is written @param {number} rows of the decoder */
export function missingShare(name, names, moment, rows) {
  if (!moment) return 0;
  const isPassed = names.indexOf(name) <= names.indexOf(moment.box);
  if (name.startsWith("encoder.")) return isPassed ? 0 : 1;
  const done = moment.word < 0 ? 0 : moment.word + (isPassed ? 1 : 0);
  return 1 - done / rows;
}

/** Compute how long a moment lasts, in ms. @param {Moment} moment */
export const durationOf = ({ box, word }) =>
  (word < 1 ? PACE.read : box === ENDS ? PACE.softmax : PACE.pass) + (box === ENDS ? PACE.back : 0);

/** Join the tokens that have room: the first ones, or with `last` the last ones.
 * @param {string[]} tokens @param {number} room @param {(text: string) => number} wide
 * @param {boolean} last */
export function fittingTokens(tokens, room, wide, last) {
  if (room < LEAST) return "";
  for (let count = tokens.length; count > 0; count--) {
    const part = last ? tokens.slice(-count) : tokens.slice(0, count);
    const text = part.map(isolate).join(" ");
    const whole = count === tokens.length ? text : last ? `… ${text}` : `${text} …`;
    if (wide(whole) <= room) return whole;
  }
  return "";
}

export class Playback {
  /** @param {Architecture} view */
  constructor(view) {
    this.view = view;
    this.back = button("◀", () => this.go(this.step - 1), { "aria-label": "One box back" });
    this.play = button("▶ Play", () => (this.timer ? this.pause() : this.start()));
    this.on = button("▶|", () => this.go(this.step + 1), { "aria-label": "One box on" });
    this.count = make("span", { class: "hl-player-count" });
    this.says = make("p", { class: "hl-arch-says", "aria-live": "polite" });
    this.bars = make("ol", { class: "hl-arch-bars" });
    this.word = make("span", { class: "hl-arch-word", "aria-hidden": "true", hidden: "" });
    this.panel = make("div", { class: "hl-arch-panel", role: "group", "aria-label": "Player" },
      make("div", { class: "hl-player-controls" }, this.back, this.play, this.on, this.count),
      this.says);
    /** @type {Moment[]} */
    this.moments = [];
    this.step = 0; // the number of moments when all is written
    this.timer = 0; // of the next moment while it plays
    this.isUnasked = false; // whether it plays by itself
    this.texts = "";
    this.written = "";
    this.panel.addEventListener("keydown", (event) => {
      if (!isShortcut(event) && this.press(event.key)) event.preventDefault();
    });
    // without this, releasing the space bar would press the button that has the focus, too
    this.panel.addEventListener("keyup", (event) => event.key === " " && event.preventDefault());
    /** A reader who acts is not played under. @param {Event} event */
    const stop = (event) => {
      if (this.isUnasked && !event.composedPath().includes(this.panel)) this.pause();
    };
    for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, stop, true);
    this.remove = () => {
      clearTimeout(this.timer);
      for (const name of ["pointerdown", "keydown"]) document.removeEventListener(name, stop, true);
    };
  }

  /** @param {ModelData} data */
  update({ boxes, playing, selected }) {
    this.panel.hidden = this.bars.hidden = !playing;
    const texts = JSON.stringify(playing && [playing.source, playing.read]);
    const [isNew, isFirst] = [texts !== this.texts, !this.texts];
    this.texts = texts;
    this.moments = playing ? momentsOf(boxes) : [];
    this.step = within(this.step, 0, this.moments.length);
    if (!isNew) return;
    clearTimeout(this.timer);
    this.timer = 0;
    this.step = this.moments.length;
    if (!isFirst || !playing || hasPlayed) return;
    this.step = playing.starts ? 0 : Math.max(0, this.stepOf(selected));
    if (!playing.starts || isStill()) return;
    this.isUnasked = true;
    queueMicrotask(() => this.start());
  }

  /** @param {ModelPlan} plan */
  arrange({ free, narrow, boxes, layout, map }) {
    const { box, data, theme } = this.view;
    const place = { left: `${free.x}px`, width: `${free.width}px` };
    this.panel.classList.toggle("hl-arch-free", !narrow);
    Object.assign(this.panel.style, narrow ? { left: "", width: "" } : place);
    Object.assign(this.bars.style, place);
    (narrow ? box : this.panel).append(this.bars);
    box.append(this.word);
    for (const { name, kind, color } of data.boxes) {
      const high = kind ? map.side : layout.high;
      const style = this.view.buttons.get(name)?.style;
      style?.setProperty("--hl-strip", `${Math.ceil(high)}px`);
      style?.setProperty("--hl-below", `${boxes[name].height - layout.strip - high}px`);
      style?.setProperty("--hl-ground",
        color ? `color-mix(in srgb, ${color} 14%, ${theme.paper})` : theme.paper);
    }
    this.render();
  }

  get moment() {
    return this.moments[this.step] ?? null;
  }

  /** Find the moment of a box: of the subword that is being written, else of the first one.
   * @param {string} name */
  stepOf(name) {
    const word = Math.max(0, this.moment?.word ?? 0);
    return this.moments.findIndex(({ box, word: other }) =>
      box === name && (other < 0 || other === word));
  }

  start() {
    if (this.step >= this.moments.length) this.step = 0;
    this.play.textContent = "❚❚ Pause";
    this.says.setAttribute("aria-live", "off"); // a screen reader could not keep up
    const next = () => {
      this.render();
      const { moment } = this;
      if (!moment) return this.pause();
      const lasts = durationOf(moment);
      if (moment.box === ENDS && !isStill()) this.sendBack(lasts - PACE.back);
      this.timer = window.setTimeout(() => {
        this.step += 1;
        next();
      }, lasts);
    };
    next();
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.isUnasked) hasPlayed = true;
    this.isUnasked = false;
    for (const moving of this.word.getAnimations?.() ?? []) moving.cancel();
    this.word.hidden = true;
    this.play.textContent = "▶ Play";
    this.says.setAttribute("aria-live", "polite");
    this.render();
  }

  /** @param {number} step */
  go(step) {
    this.step = within(step, 0, this.moments.length);
    this.pause();
  }

  /** @param {string} key @returns {boolean} whether it is one of the player's */
  press(key) {
    if (key === " ") {
      if (this.timer) this.pause();
      else this.start();
    } else if (key === "ArrowLeft" || key === "ArrowDown") this.go(this.step - 1);
    else if (key === "ArrowRight" || key === "ArrowUp") this.go(this.step + 1);
    else if (key === "Home") this.go(0);
    else if (key === "End") this.go(this.moments.length);
    else return false;
    return true;
  }

  /** Show the moment: the lit box, how far the others are, and the words beside them. */
  render() {
    const { moment, view: { data, buttons } } = this;
    if (!data.playing) return;
    const names = data.boxes.map(({ name }) => name);
    const { read, source, last, steps } = data.playing;
    for (const [name, { classList, style }] of buttons) {
      classList.toggle("hl-lit", name === moment?.box);
      style.setProperty("--hl-missing", String(missingShare(name, names, moment, read.length)));
    }
    this.writeTokens("encoder.tokens", moment ? source : [], false);
    this.writeTokens("decoder.tokens", moment ? read.slice(0, moment.word + 1) : [], true);
    // a disabled button would lose the focus, and with it the arrow keys
    this.back.setAttribute("aria-disabled", String(this.step === 0));
    this.on.setAttribute("aria-disabled", String(!moment));
    this.count.textContent = !moment ? "" : moment.word < 0 ? "encoder"
      : `subword ${moment.word + 1} of ${steps.length}`;
    const box = data.boxes.find(({ name }) => name === moment?.box);
    // where boxes are lit too shortly to be read about, the subword's first sentence stays
    const isPassing = this.timer && moment && moment.word > 0 && moment.box !== ENDS;
    const described = isPassing ? data.boxes.find(({ name }) => name === "decoder.tokens") : box;
    const { title, sentences, paper } = described ?? { title: "", sentences: [], paper: "" };
    const sentence = sentences[Math.max(0, moment?.word ?? 0)] ?? last;
    const text = `${title}${sentence}${paper}`;
    if (text !== this.written) { // else a screen reader would hear it twice
      this.written = text;
      this.says.replaceChildren(...(title ? [make("strong", {}, `${title}: `)] : []), sentence, " ",
        make("small", {}, paper));
    }
    this.showBars(moment?.box === ENDS ? steps[moment.word] : null);
  }

  /** @param {{options: {label: string, p: number}[], taken: number} | null} step */
  showBars(step) {
    this.bars.replaceChildren(...(step?.options ?? []).map(({ label, p }, n) => {
      const bar = make("span", { class: "hl-arch-bar" });
      bar.style.setProperty("--hl-p", String(p));
      const row = make("li", {}, make("bdi", {}, label), bar, digits(p));
      row.classList.toggle("hl-arch-taken", n === step?.taken);
      return row;
    }));
  }

  /** Write the tokens that a stack reads into its box at the foot.
   * @param {string} name @param {string[]} tokens
   * @param {boolean} last whether the last ones matter most */
  writeTokens(name, tokens, last) {
    const { plan: { boxes, layout: { letters, feet } }, measure, data, buttons } = this.view;
    const title = data.boxes.find((box) => box.name === name)?.title ?? "";
    const beside = feet.length < 2 || feet[0] === feet[1];
    const taken = beside ? measure(title, letters, 600) + GAP : 0;
    const room = boxes[name].width - 2 * INSIDE - taken;
    const text = fittingTokens(tokens, room, (words) => measure(words, letters, 400), last);
    const span = make("span", { class: "hl-arch-tokens" }, text);
    Object.assign(span.style, { fontSize: `${letters}px`, width: `${room}px` });
    buttons.get(name)?.replaceChildren(...(text ? [span] : []));
  }

  /** Move the subword that is written from the softmax to the foot. @param {number} delay ms */
  sendBack(delay) {
    const { moment, view: { data, plan: { boxes, layout, width } } } = this;
    const step = data.playing?.steps[moment?.word ?? -1];
    if (!step || !moment || moment.word + 1 === data.playing?.read.length) return;
    const [from, to] = [boxes[ENDS], boxes["decoder.tokens"]];
    const edge = from.x + from.width;
    const [inside, outside] = [edge - INSIDE, Math.min(edge + layout.side, width)];
    /** @param {number} right @param {{y: number, height: number}} box */
    const at = (right, { y, height }) =>
      ({ transform: `translate(${right}px, ${y + height / 2}px) translate(-100%, -50%)` });
    this.word.textContent = step.options[step.taken].label;
    this.word.hidden = false;
    const way = [at(inside, from), at(outside, from), at(outside, to), at(inside, to)]
      .map((place, n) => ({ ...place, offset: [0, 0.15, 0.85, 1][n] }));
    this.word.animate(way, { delay, duration: PACE.back, easing: "ease-in-out", fill: "both" })
      .finished.then(() => { this.word.hidden = true; }, () => {});
  }
}

const isStill = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
