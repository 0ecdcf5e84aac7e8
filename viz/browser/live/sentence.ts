// The sentence of a live page: its field, what the engine makes of it, and all that is said about
// it. Translating goes on while one types: a newer text ends the search for an older one.

import { button, make } from "../core/dom.ts";
import { counted } from "../core/labels.ts";
import { forHand } from "../core/text.ts";
import type { HeadPlace, Row, Trace } from "../core/trace.ts";
import type { Answer, Ordered } from "../engine/messages.ts";
import { type LiveData, storedTrace } from "./data.ts";
import { EngineClient, refusal } from "./engine_client.ts";
import { figuresOf, type Random } from "./figures.ts";
import { Translation } from "./translation.ts";
import { likelyLanguage } from "./language.ts";

export const LONGEST = 2_000; // characters
const SLOW = 400; // ms after which the page says that it translates
const QUOTED = 60; // characters of the sentence that the pictures show

export interface Edits { removed: HeadPlace[]; rows: Row[]; prefix: string[] }
const NO_EDITS: Edits = { removed: [], rows: [], prefix: [] };

/** What a visitor does for a while, of which the address keeps the end alone. */
export type Activity = "typing" | "breaking" | "";

export interface Listener {
  onTrace: (trace: Trace) => void; // a sentence is translated, or once more with edits
  onAct?: (act: Activity) => void; // something else is about to be shown
  onOriginal?: () => void; // and log P of its original is there
  onOrdered?: (answer: Ordered) => void;
  onFailed?: () => void; // the model is not there
  random?: () => Random | null; // beside the heads that are removed
}

const at = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

export class LiveSentence {
  data: LiveData;
  listener: Listener;
  field = at<HTMLTextAreaElement>("text");
  turning = at<HTMLButtonElement>("turn");
  examples = at<HTMLSelectElement>("examples");
  warning = at("warning");
  figures = at("figures");
  restore = button("Restore the model", () => this.edit(NO_EDITS));
  words = at("state").querySelector("span") as HTMLElement;
  offer = make("span");
  bar = at("state").querySelector("progress") as HTMLProgressElement;
  translation: Translation;
  direction = 0;
  left: string[] = []; // the sentence of each direction, when it was turned
  int8 = false;
  other?: HTMLButtonElement;
  engine: EngineClient | null = null;
  isLive = false;
  refusal = refusal();
  turn = 0; // of the last request
  asked: "translate" | "order" | null = null; // what is not answered in full yet
  slow = 0; // a timer
  written = make("span"); // how far a long translation is
  halt = button("Stop", () => this.stop());
  whole: Trace | null = null; // of the whole model
  shown: Trace | null = null;
  original: number | null = null; // log P of what the whole model wrote, with the edits
  pictured = ""; // the sentence of the pictures
  note = ""; // about the link that brought this sentence
  edits = NO_EDITS;

  constructor(data: LiveData, listener: Listener) {
    this.data = data;
    this.listener = listener;
    this.translation = new Translation(at("translation"), (prefix) => this.edit({ prefix }));
    this.field.addEventListener("input", () => this.typed());
    this.field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") event.preventDefault(); // a sentence is one line
    });
    document.addEventListener("keydown", ({ key }) => key === "Escape" && this.stop());
    addEventListener("resize", () => this.fit());
    this.turning.addEventListener("click", () => this.turnRound());
    this.examples.addEventListener("change", () => {
      this.go(this.direction, this.examples.value, { removed: this.edits.removed });
      this.examples.value = "";
    });
    this.field.readOnly = Boolean(this.refusal || !this.about.base);
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
    if (!this.refusal && this.about.base) this.load();
    await this.showStored();
    if (this.refusal) this.say(this.refusal);
  }

  async showStored() {
    const text = this.field.value;
    const trace = await storedTrace(this.data, this.direction, text);
    if (text !== this.field.value || this.isLive) return;
    if (trace && trace === this.shown) return;
    if (trace) this.show(trace);
    else if (this.engine) this.translation.clear("Translated as soon as the model is loaded …");
  }

  load() {
    this.engine?.end();
    this.isLive = false;
    this.progress(0, this.int8 ? this.about.rounded : this.about.bytes);
    this.engine = new EngineClient(this.data, this.about.base, this.int8, (answer) =>
      this.hear(answer));
  }

  /** Offer the weights that are not loaded, where there are two kinds. */
  otherWeights(): HTMLElement[] {
    const { bytes, rounded, bleu } = this.about;
    if (!rounded || (this.isLive && !this.int8)) return [];
    const loss = bleu ? `, BLEU ${bleu[1].toFixed(2)} instead of ${bleu[0].toFixed(2)}` : "";
    const text = this.int8 ? `Take the exact ones (${megabytes(bytes)} MB)`
      : `Take weights rounded to 8 bits (${megabytes(rounded)} MB${loss})`;
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

  /** @param text what is read then; by default the translation of now, or where there is none yet
   *   what was read before */
  turnRound(text?: string) {
    const { whole, field, data, left, direction: before } = this;
    const direction = 1 - before;
    const translated = whole?.source.text === field.value ? whole.target.text : "";
    left[before] = field.value;
    this.go(direction, text || translated || left[direction]
      || data.directions[direction].examples[0]?.text || "");
    field.focus();
  }

  /** Take another sentence, perhaps of the other direction. */
  go(direction: number, text: string, edits: Partial<Edits> = {}, note = "", act: Activity = "") {
    this.listener.onAct?.(act);
    if (direction !== this.direction) {
      this.direction = direction;
      this.whole = this.shown = null;
      this.describe();
      this.compare();
      if (this.engine) this.load();
    }
    if (this.field.value !== text) this.field.value = text;
    this.fit();
    this.edits = { ...NO_EDITS, ...edits };
    this.note = note;
    this.update();
  }

  /** Let the field be as high as its sentence. */
  fit() {
    const { field, field: { style } } = this;
    style.height = "";
    style.height = `${field.scrollHeight + field.offsetHeight - field.clientHeight}px`;
  }

  typed() {
    const { field, field: { selectionStart: start, selectionEnd: end } } = this;
    if (field.value.includes("\n")) { // that is pasted
      field.value = field.value.replaceAll("\n", " ");
      field.setSelectionRange(start, end);
    }
    this.go(this.direction, this.field.value, { removed: this.edits.removed }, "", "typing");
  }

  /** Follow the field: what is not translated yet is not shown as if it were. */
  update() {
    this.mark();
    this.warn();
    if (!this.field.value.trim()) {
      this.turn++; // what is on its way belongs to another text
      this.refuse("The field is empty: type a sentence.");
    } else if (this.field.value.length > LONGEST) {
      this.turn++;
      const count = this.field.value.length.toLocaleString("en");
      this.refuse(`The sentence has ${count} characters; the page reads `
        + `${LONGEST.toLocaleString("en")}: shorten it.`);
    } else if (this.isLive) this.ask();
    else if (this.shown?.source.text !== this.field.value) {
      this.translation.clear(); // until the model is there
      this.showStored();
    }
  }

  /** Change what is removed, painted or forced, and translate once more. */
  edit(edits: Partial<Edits>) {
    this.listener.onAct?.("");
    this.edits = { ...this.edits, ...edits };
    this.note = "";
    this.ask();
  }

  get isEdited() {
    return Object.values(this.edits).some(({ length }) => length > 0);
  }

  get shownEdits(): Edits {
    if (!this.shown) return NO_EDITS;
    const { edited: { removed, rows, prefix }, target: { pieces } } = this.shown;
    return { removed, rows, prefix: pieces.slice(0, prefix) };
  }

  /** Translate: without edits first, where that is not known of this sentence. */
  ask() {
    const [text, turn] = [this.field.value, ++this.turn];
    window.clearTimeout(this.slow);
    this.asked = null;
    if (!this.isLive || !text.trim() || text.length > LONGEST) return;
    const { whole } = this;
    const isKnown = whole?.source.text === text;
    if (isKnown && !this.isEdited) {
      this.show(whole);
      this.warn();
      return;
    }
    this.asked = "translate";
    this.written.textContent = "Translating …";
    this.slow = window.setTimeout(() => this.warn(this.written, true, this.halt), SLOW);
    this.engine?.ask({ type: "translate", turn, text, ...isKnown ? this.edits : NO_EDITS });
  }

  /** Leave a translation that takes long; what is shown of the sentence stays. */
  stop() {
    const { shown, field } = this;
    if (this.asked !== "translate") return;
    // the engine leaves the one for the other, whose answer nobody waits for
    this.engine?.ask({ type: "translate", turn: this.turn++, text: "", ...NO_EDITS });
    if (shown?.source.text !== field.value) this.refuse("Stopped.");
    else {
      window.clearTimeout(this.slow);
      this.asked = null;
      this.edits = this.shownEdits;
      this.show(shown);
      this.warn("Stopped.", true);
    }
    field.focus();
  }

  /** Ask for the heads that the sentence needs most, while nothing else is asked. */
  order(length: number, seed: number) {
    if (this.asked || !this.isLive) return;
    this.asked = "order";
    const text = this.field.value;
    this.engine?.ask({ type: "order", turn: ++this.turn, text, length, seed });
  }

  hear(answer: Answer) {
    if (answer.type === "progress") this.progress(answer.loaded, answer.total);
    else if (answer.type === "live") this.begun();
    else if (answer.type === "failed" && answer.turn === null) this.failed(answer.message);
    else if (answer.turn !== this.turn) return; // something newer was asked
    else if (answer.type === "translated") this.translated(answer.trace, answer.unsure);
    else if (answer.type === "writing") {
      this.written.textContent = `Translating … ${counted(answer.count, "subword")} so far; the `
        + `sentence has ${answer.read}.`;
    }
    else if (answer.type === "original") {
      this.asked = null;
      this.original = answer.logProb;
      this.compare();
      this.listener.onOriginal?.();
    } else if (answer.type === "ordered") {
      if (answer.done) this.asked = null;
      this.listener.onOrdered?.(answer);
    } else if (answer.type === "failed") this.refuse(answer.message);
    else if (answer.type === "nothing") this.refuse("The field is empty: type a sentence.");
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
    if (!this.shown) this.translation.clear();
    this.listener.onFailed?.();
  }

  translated(trace: Trace, unsure: boolean) {
    window.clearTimeout(this.slow);
    const { removed, rows, prefix } = trace.edited;
    const hasOriginal = removed.length || rows.length; // it comes next
    if (!hasOriginal) this.asked = null;
    if (!hasOriginal && !prefix) {
      this.whole = trace;
      if (this.isEdited) {
        this.ask();
        return;
      }
    }
    this.show(trace);
    this.warn(this.note || (unsure ? "The model is unsure of this translation." : ""));
  }

  /** Say why there is no translation; of edits that cannot be had, what is written without them. */
  refuse(message: string) {
    window.clearTimeout(this.slow);
    this.asked = null;
    const { rows, prefix, removed } = this.edits;
    if (this.whole?.source.text === this.field.value && (rows.length || prefix.length)) {
      this.edits = { ...NO_EDITS, removed };
      const left = `${message} Painted rows and the chosen beginning are left out.`;
      this.note = `${this.note} ${left}`.trim();
      this.ask();
      return;
    }
    this.shown = null;
    this.translation.clear();
    this.compare();
    const short = this.pictured.length > QUOTED ? `${this.pictured.slice(0, QUOTED)}…`
      : this.pictured;
    this.warn(short ? `${message} The pictures still show “${short}”.` : message, true);
  }

  show(trace: Trace) {
    const { removed, rows, prefix } = trace.edited;
    if (!removed.length && !rows.length && !prefix) this.whole = trace;
    this.shown = trace;
    this.original = null;
    this.pictured = trace.source.text;
    this.mark();
    this.translation.update(trace, this.whole, this.languages[1].code, this.isLive);
    this.compare();
    performance.clearMarks("translation");
    performance.mark("translation");
    this.listener.onTrace(trace);
  }

  /** Show in the pictures whether they are of the sentence in the field. */
  mark() {
    const isStale = this.shown?.source.text !== this.field.value;
    document.body.classList.toggle("stale", isStale);
  }

  /** Compare with the whole model, in log P and words. */
  compare() {
    const { whole, shown, original, restore, isLive } = this;
    const random = this.listener.random?.() ?? null;
    const parts = whole && shown ? figuresOf(whole, shown, original, random) : [];
    const isPlain = isLive && shown && !this.isEdited;
    const help = isPlain ? forHand("Click a word to continue with another one.") : "";
    const [first = "", ...others] = parts.map(([figure, rest]) =>
      make("span", {}, make("strong", {}, figure), rest, " "));
    const hadFocus = document.activeElement === restore;
    this.figures.replaceChildren(first || help, ...this.isEdited ? [restore] : [], ...others);
    if (hadFocus) (restore.isConnected ? restore : this.field).focus();
  }

  progress(loaded: number, total: number) {
    this.bar.hidden = false;
    this.bar.value = loaded / total;
    this.words.ariaLive = "off"; // each megabyte would be read out
    this.say(`Loading the model that reads ${this.languages[0].name}, for your own sentences: `
      + `${megabytes(loaded)} of ${megabytes(total)} MB`, ...this.otherWeights());
  }

  say(text: string, ...more: HTMLElement[]) {
    this.words.textContent = text;
    const { children } = this.offer;
    if (more.length !== children.length || more.some((node, n) => node !== children[n])) {
      this.offer.replaceChildren(...more); // else a button would lose the focus
    }
  }

  /** Show a warning on the sentence, above all that it is in the other language.
   * @param always whether the text stands there then, too */
  warn(text: string | Node = this.note, always = false, ...more: Node[]) {
    const [value, [source, target]] = [this.field.value, this.languages];
    const isOther = target.code && likelyLanguage(value, this.data.common) === target.code;
    const other = !isOther ? [] : [this.turning.hidden
      ? `This looks like ${target.name}, and the model reads ${source.name}.`
      : button(`This looks like ${target.name}: ⇄`, () => this.turnRound(value))];
    this.warning.replaceChildren(...isOther && !always ? [] : [text, " "], ...more, ...other);
  }
}
