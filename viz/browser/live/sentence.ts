// The sentence of a live page: its field, what the engine makes of it, and all that is said about
// it. Translating goes on while one types: a newer text ends the search for an older one.

import { button, make } from "../core/dom.ts";
import type { HeadPlace, Row, Trace } from "../core/trace.ts";
import type { Answer, Ordered } from "../engine/messages.ts";
import { type LiveData, storedTrace } from "./data.ts";
import { EngineClient, refusal } from "./engine_client.ts";
import { Translation } from "./translation.ts";
import { likelyLanguage } from "./words.ts";

export const LONGEST = 2_000; // characters

export interface Edits { removed: HeadPlace[]; rows: Row[]; prefix: string[] }

export interface Listener {
  onTrace: (trace: Trace) => void; // a sentence is translated, or once more with edits
  onOrdered: (answer: Ordered) => void;
}

const at = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

export class LiveSentence {
  data: LiveData;
  listener: Listener;
  field = at<HTMLInputElement>("text");
  turning = at<HTMLButtonElement>("turn");
  examples = at<HTMLSelectElement>("examples");
  warning = at("warning");
  words = at("state").querySelector("span") as HTMLElement;
  offer = make("span");
  bar = at("state").querySelector("progress") as HTMLProgressElement;
  translation: Translation;
  direction = 0;
  int8 = false;
  other?: HTMLButtonElement;
  engine: EngineClient | null = null;
  isLive = false;
  refusal = refusal();
  turn = 0; // of the last request
  whole: Trace | null = null; // of the whole model
  shown: Trace | null = null;
  note = ""; // about the link that brought this sentence
  edits: Edits = { removed: [], rows: [], prefix: [] };

  constructor(data: LiveData, listener: Listener) {
    this.data = data;
    this.listener = listener;
    this.translation = new Translation(at("translation"), (prefix) => this.edit({ prefix }));
    this.field.addEventListener("input", () => this.typed());
    this.field.form?.addEventListener("submit", (event) => event.preventDefault());
    this.turning.addEventListener("click", () => this.turnRound());
    this.examples.addEventListener("change", () => {
      this.write(this.examples.value);
      this.examples.value = "";
    });
    if (this.refusal || !this.about.base) this.field.readOnly = true;
    else this.field.readOnly = false;
    this.bar.after(this.offer);
    this.describe();
  }

  get about() {
    return this.data.directions[this.direction];
  }

  get languages() {
    return this.about.about.languages;
  }

  /** Show the stored trace of what the field has, if any, then load the model. */
  async begin() {
    await this.showStored();
    if (this.refusal) this.say(this.refusal);
    else if (this.about.base) this.load();
  }

  async showStored() {
    const text = this.field.value;
    const trace = await storedTrace(this.data, this.direction, text);
    if (trace && text === this.field.value) this.show(trace);
    return trace !== null;
  }

  load() {
    this.engine?.end();
    this.isLive = false;
    this.progress(0, this.int8 ? this.about.rounded : this.about.bytes);
    this.engine = new EngineClient(this.data.engine, this.about.base, this.int8, (answer) =>
      this.hear(answer));
  }

  /** Offer the weights that are not loaded, where there are two kinds. */
  otherWeights(): HTMLElement[] {
    const { bytes, rounded } = this.about;
    if (!rounded || (this.isLive && !this.int8)) return [];
    const text = this.int8 ? `Take the exact ones (${megabytes(bytes)} MB)`
      : `Take weights rounded to 8 bits (${megabytes(rounded)} MB)`;
    this.other ??= button("", () => {
      this.int8 = !this.int8;
      this.whole = null;
      this.load();
    });
    this.other.textContent = text;
    return [this.other];
  }

  /** Name both languages and list the examples. */
  describe() {
    const [source, target] = this.languages;
    at("reads").textContent = source.name;
    at("writes").textContent = target.name;
    this.field.lang = source.code;
    const other = this.data.directions[1 - this.direction];
    this.turning.hidden = !other || Boolean(this.refusal);
    this.turning.setAttribute("aria-label", `Translate ${target.name} to ${source.name}`);
    this.turning.title = this.turning.getAttribute("aria-label") as string;
    const texts = this.refusal
      ? this.data.stored.filter(({ direction }) => direction === this.direction)
        .map(({ text }) => ({ text, about: "" }))
      : this.about.examples;
    this.examples.hidden = texts.length < 2;
    this.examples.replaceChildren(make("option", { value: "" }, "Examples"),
      ...texts.map(({ text, about }) => make("option", { value: text },
        about ? `${about}: ${text}` : text)));
  }

  turnRound() {
    const before = this.whole?.target.text ?? "";
    this.direction = 1 - this.direction;
    this.edits = { removed: [], rows: [], prefix: [] };
    this.whole = this.shown = null;
    this.describe();
    this.load();
    this.write(before || this.about.examples[0]?.text || "");
    this.field.focus();
  }

  write(text: string) {
    this.field.value = text;
    this.typed();
  }

  typed() {
    this.edits = { removed: this.edits.removed, rows: [], prefix: [] };
    this.note = "";
    this.warn();
    if (this.isLive) this.ask();
    else if (this.field.value !== this.shown?.source.text) {
      this.translation.clear(); // until the model is there
      this.showStored();
    }
  }

  /** Change what is removed, painted or forced, and translate once more. */
  edit(edits: Partial<Edits>) {
    this.edits = { ...this.edits, ...edits };
    this.ask();
  }

  get isEdited() {
    return Object.values(this.edits).some(({ length }) => length > 0);
  }

  /** Translate: without edits first, where that is not known of this sentence. */
  ask() {
    const [text, turn] = [this.field.value, ++this.turn];
    if (!this.isLive || text.length > LONGEST) return;
    const { whole } = this;
    const isKnown = whole?.source.text === text;
    const edits = isKnown ? this.edits : { removed: [], rows: [], prefix: [] };
    if (isKnown && !this.isEdited) this.show(whole);
    else this.engine?.ask({ type: "translate", turn, text, ...edits });
  }

  /** Ask for the heads that the sentence needs most. */
  order(length: number, seed: number) {
    const text = this.field.value;
    this.engine?.ask({ type: "order", turn: ++this.turn, text, length, seed });
  }

  hear(answer: Answer) {
    if (answer.type === "progress") this.progress(answer.loaded, answer.total);
    else if (answer.type === "live") this.begun();
    else if (answer.type === "failed" && answer.turn === null) this.failed(answer.message);
    else if (answer.turn !== this.turn) return; // something newer was asked
    else if (answer.type === "translated") this.translated(answer.trace, answer.unsure);
    else if (answer.type === "ordered") this.listener.onOrdered(answer);
    else if (answer.type === "failed") this.warn(answer.message);
    else if (answer.type === "nothing") {
      this.translation.clear();
      this.warn("The field is empty: type a sentence.");
    }
  }

  begun() {
    this.isLive = true;
    performance.mark("live");
    this.bar.hidden = true;
    this.words.ariaLive = "polite";
    const rounded = "The weights are rounded to 8 bits: some translations differ. ";
    const unkept = "This browser keeps no files: the model is loaded at each visit.";
    this.say(`${this.int8 ? rounded : ""}${"caches" in window ? "" : unkept}`,
      ...this.otherWeights());
    this.ask();
  }

  failed(message: string) {
    this.words.ariaLive = "polite";
    this.bar.hidden = true;
    this.say(message, button("Try again", () => this.engine?.load()));
  }

  translated(trace: Trace, unsure: boolean) {
    const { removed, rows, prefix } = trace.edited;
    if (!removed.length && !rows.length && !prefix) {
      this.whole = trace;
      if (this.isEdited) {
        this.ask();
        return;
      }
    }
    this.show(trace);
    this.warn(unsure ? "The model is unsure of this translation." : this.note);
  }

  show(trace: Trace) {
    const { edited } = trace;
    if (!edited.removed.length && !edited.rows.length && !edited.prefix) this.whole = trace;
    this.shown = trace;
    this.translation.update(trace, this.whole, this.languages[1].code, this.isLive);
    performance.clearMarks("translation");
    performance.mark("translation");
    this.listener.onTrace(trace);
  }

  progress(loaded: number, total: number) {
    this.bar.hidden = false;
    this.bar.value = loaded / total;
    this.words.ariaLive = "off"; // each megabyte would be read out
    this.say("Loading the model for your own sentences: "
      + `${megabytes(loaded)} of ${megabytes(total)} MB`, ...this.otherWeights());
  }

  say(text: string, ...more: HTMLElement[]) {
    this.words.textContent = text;
    const { children } = this.offer;
    if (more.length !== children.length || more.some((node, n) => node !== children[n])) {
      this.offer.replaceChildren(...more); // else a button would lose the focus
    }
  }

  /** Show a warning on the sentence: first of all that it is in the other language. */
  warn(text = this.note) {
    const [value, [source, target]] = [this.field.value, this.languages];
    const count = value.length.toLocaleString("en");
    const isOther = target.code && likelyLanguage(value, this.data.common) === target.code;
    if (value.length > LONGEST) {
      this.warning.textContent = `The sentence has ${count} characters; the page reads `
        + `${LONGEST.toLocaleString("en")}: shorten it.`;
    } else if (isOther && !this.turning.hidden) {
      this.warning.replaceChildren(button(`This looks like ${target.name}: ⇄`, () => {
        this.turnRound();
        this.write(value);
      }));
    } else {
      this.warning.textContent = isOther
        ? `This looks like ${target.name}, and the model reads ${source.name}.` : text;
    }
  }
}
