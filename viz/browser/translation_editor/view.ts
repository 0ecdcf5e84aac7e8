// A translation that is edited in place, each word with the probability that the model gives it: a
// bar under it, a shade behind those that are improbable, and a line over what was forced. A
// transparent field lies over the marks, and so caret, selection, undo and composition stay the
// browser's own.

import { paint, sized } from "../core/canvas.ts";
import { type Box, fillTable, make } from "../core/dom.ts";
import { type Mark, rect } from "../core/scene.ts";
import { forHand, logText, number, quote } from "../core/text.ts";
import { View } from "../core/view.ts";
import { inOneLine, joinLines, makeField, Mirror, replaceText } from "./field.ts";
import { type Chosen, Popover } from "./popover.ts";
import {
  BAR, barOf, carried, type EditorData, type PlacedWord, wordAt, wordAtCaret, wordsOf,
} from "./words.ts";

const PAUSE = 300; // ms without a letter, then what was typed is sent
const LINGER = { open: 180, close: 220 }; // ms that the pointer stays before the card comes or goes
const NARROW = 480;
const HELP = "Bar: the model’s probability of the word; grey word: below one half. Click a word "
  + "(or press Alt+↓) for alternatives, or type over it.";
export const TABLE = ["Word", "Probability", "Log probability", "Alternatives"];

export class TranslationEditor extends View<EditorData> {
  static read({ spans, words, logProbs, ...message }: any): EditorData {
    const pieces = message.pieces.map((piece: any, n: number) => ({
      ...piece, start: spans[2 * n], end: spans[2 * n + 1], logProb: logProbs[n],
      p: Math.exp(logProbs[n]),
    }));
    return { ...message, pieces, words: wordsOf(pieces, words, message.forced) };
  }

  exchange = new Exchange();
  field = makeField("hl-card", "hl-editor-help");
  mirror = new Mirror();
  canvas = make("canvas", { "aria-hidden": "true" });
  card = new Popover((chosen) => this.take(chosen));
  lines = make("div", { class: "hl-editor-lines" }, this.canvas, this.mirror.root, this.field);
  frame = make("div", { class: "hl-frame hl-editor" }, this.lines, this.card.root);
  status = make("div", { class: "hl-editor-status" });
  help = make("div", { id: "hl-editor-help" }, forHand(HELP));
  table = make("table");
  declare known: EditorData; // of the text before what was typed since
  placed: PlacedWord[] = [];
  open: number | null = null; // the word whose card is open, by its number
  pinned = false; // by a click or a key: the pointer may leave
  composing = false;
  pause?: ReturnType<typeof setTimeout>;
  linger?: ReturnType<typeof setTimeout>;

  constructor() {
    super();
    this.root.append(this.frame, make("div", { class: "hl-editor-foot" }, this.status, this.help),
      make("div", { class: "hl-unseen" }, this.table), this.live);
    this.listen();
  }

  listen() {
    const { field, frame } = this;
    field.addEventListener("beforeinput", (event) => joinLines(field, event));
    field.addEventListener("input", () => this.onInput());
    field.addEventListener("compositionstart", () => { this.composing = true; });
    field.addEventListener("compositionend", () => {
      this.composing = false;
      this.onInput();
    });
    field.addEventListener("keydown", (event) => this.onKey(event));
    // a page's shortcuts are not meant by what is typed here
    for (const name of ["keydown", "keypress", "keyup"]) {
      field.addEventListener(name, (event) => event.stopPropagation());
    }
    field.addEventListener("click", () => this.openAtCaret());
    field.addEventListener("blur", () => {
      this.close();
      this.send();
    });
    frame.addEventListener("pointermove", (event) => this.onPointer(event));
    frame.addEventListener("pointerleave", () => this.onPointer(null));
  }

  remove() {
    clearTimeout(this.pause);
    clearTimeout(this.linger);
    super.remove();
  }

  /** The text as it is sent: as long as that of the field. */
  get text() {
    return inOneLine(this.field.value);
  }

  update() {
    const { data, exchange } = this;
    const [wasSent, isFirst] = [!exchange.unsent, !this.known];
    const heard = exchange.hear(data, isFirst ? data.text : this.text);
    const verdict = isFirst ? "take" : heard;
    if (wasSent && exchange.unsent) this.sendSoon();
    if (verdict === "leave" || (verdict === "take" && this.composing)) return;
    if (verdict === "take") {
      this.close();
      replaceText(this.field, data.text);
    }
    this.known = data;
    this.describe();
  }

  describe() {
    const { known, field } = this;
    this.root.setAttribute("aria-label", known.title);
    field.setAttribute("aria-label", known.title);
    field.lang = known.language;
    field.placeholder = known.placeholder;
    this.showStatus();
    fillTable(this.table, known.title, TABLE, wordRows(known));
  }

  showStatus() {
    const { known, text } = this;
    this.status.textContent = statusOf(known, text !== known.text);
  }

  arrange(width: number) {
    this.root.classList.toggle("hl-narrow", width < NARROW);
    this.place();
    if (this.open !== null) this.showCard();
  }

  place() {
    const { known, mirror, field, text } = this;
    mirror.write(field.value);
    this.placed = carried(known.words, known.text, text).map((word) => ({
      word,
      boxes: word.start === word.end ? [mirror.endBox()] : mirror.boxes(word.start, word.end),
    }));
  }

  draw() {
    const { lines, mirror, theme, known: data, placed, open } = this;
    const { fromRight } = mirror;
    const context = sized(this.canvas, lines.clientWidth, lines.clientHeight);
    const boxesOf = (piece: number) =>
      mirror.boxes(data.pieces[piece].start, data.pieces[piece].end);
    paint(context, editorMarks({ placed, open, theme, data, boxesOf, fromRight }), theme.font);
  }

  onInput() {
    if ("replacing" in this.field.dataset) return; // the server's text is put in: nobody types
    this.exchange.unsent = true;
    this.close();
    this.place();
    this.showStatus();
    this.draw();
    this.sendSoon();
  }

  sendSoon() {
    clearTimeout(this.pause);
    this.pause = setTimeout(() => this.send(), PAUSE);
  }

  send() {
    clearTimeout(this.pause);
    if (this.composing) return;
    const { text } = this;
    const waited = this.exchange.unsent;
    const revision = this.exchange.send(text !== this.known.text);
    if (revision !== null) this.options.onSelect?.({ text, revision });
    // back at the text that the server knows: its last answer counts
    else if (waited && this.data !== this.known) this.show(this.data, this.options);
  }

  onKey(event: KeyboardEvent) {
    const { key, altKey, isComposing } = event;
    if (isComposing) return;
    if (key === "Alt" || key === "Meta") this.send(); // what may follow is Alt+Left, for Back
    if (key === "ArrowDown" && altKey) this.openAtCaret(true);
    else if (key === "Escape" && this.card.isOpen) this.close();
    else if (key === "Enter") {
      if (this.card.at) this.take(this.card.at);
      else this.send();
    } else if (this.card.at && !altKey && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      const id = this.card.move(key);
      if (id === null) return;
      this.field.setAttribute("aria-activedescendant", id);
    } else {
      // the card follows the caret; what is typed has closed it by then
      requestAnimationFrame(() => this.card.isOpen && !this.card.at && this.openAtCaret());
      return;
    }
    event.preventDefault();
  }

  onPointer(event: PointerEvent | null) {
    if (event?.pointerType === "touch" || this.card.at) return;
    const isOnCard = event && event.composedPath().includes(this.card.root);
    clearTimeout(this.linger);
    if (isOnCard) return;
    const outer = this.lines.getBoundingClientRect();
    const under = event
      && wordAt(this.placed, event.clientX - outer.left, event.clientY - outer.top);
    if (under && under.word.index === this.open) return;
    if (under && !event.buttons) {
      this.linger = setTimeout(() => this.openWord(under, { pinned: false }), LINGER.open);
    } else if (!this.pinned) this.linger = setTimeout(() => this.close(), LINGER.close);
  }

  /** @param byKeys whether the arrow keys choose from now on */
  openAtCaret(byKeys = false) {
    const { selectionStart, selectionEnd } = this.field;
    const at = selectionStart === selectionEnd || byKeys
      ? wordAtCaret(this.placed, selectionEnd) : undefined;
    if (at) this.openWord(at, { pinned: true, byKeys });
    else this.close();
  }

  openWord({ word, boxes }: PlacedWord, { pinned, byKeys }: { pinned: boolean; byKeys?: boolean }) {
    clearTimeout(this.linger);
    if (!word.sure || !boxes.length) { // the answer to what was typed is on its way
      this.close();
      return;
    }
    this.card.at = null;
    this.open = word.index;
    this.pinned = pinned;
    this.showCard();
    if (byKeys) {
      const name = this.nameOf(word.index);
      this.field.setAttribute("aria-activedescendant", this.card.choose(null));
      this.live.textContent =
        `${quote(name)}: ${number(word.p)}, log probability ${logText(word.logProb)}`;
    }
    this.draw();
  }

  showCard() {
    const { known, card, placed, open } = this;
    const at = placed.find(({ word }) => word.index === open && word.sure);
    if (open === null || !at) {
      this.close();
      return;
    }
    card.fill(known, known.words[open], this.nameOf(open), this.exchange.ahead);
    card.place(this.frame, at.boxes[at.boxes.length - 1]);
  }

  nameOf(index: number) {
    const { start, end } = this.known.words[index];
    return this.known.text.slice(start, end) || "end of the sentence";
  }

  close() {
    clearTimeout(this.linger);
    if (this.open === null) return;
    this.open = null;
    this.card.close();
    this.field.removeAttribute("aria-activedescendant");
    if (this.theme) this.draw();
  }

  take({ piece, alternative }: Chosen) {
    if (this.exchange.ahead) return; // these are the pieces of another text
    const { pieces } = this.known;
    // as Python compares it
    const prefix = pieces.slice(0, piece).map(({ raw }) => raw).join("")
      + pieces[piece].others[alternative].raw;
    this.close();
    this.options.onSelect?.({ force: piece, alternative, prefix });
  }
}

export const wordRows = ({ text, words, pieces }: EditorData): string[][] => words.map((word) => {
  const own = pieces.slice(word.first, word.first + word.count)
    .filter(({ others }) => others.length);
  const listed = own.map(({ label, others }) =>
    `for ${label}: ${others.map((other) => `${other.label} ${number(other.p)}`).join(", ")}`);
  return [
    text.slice(word.start, word.end) || "end of the sentence", number(word.p),
    logText(word.logProb), listed.join("; ") || "none",
  ];
});

/** Name the origin of the text, always in one line, so that nothing below moves. */
export function statusOf({ byHand, forced, constrained }: EditorData, changed: boolean) {
  if (byHand || changed) return "Your version.";
  const first = forced === 1 ? "subword" : `${forced} subwords`;
  if (forced) return `Forced: the first ${first}, overlined.`;
  return constrained ? "The model’s translation under the constraints of the search."
    : "The model’s own translation.";
}

const TRACK = 0.16; // opacity
const FILLED = 0.75;
const SHADE = 0.14; // of a word with a probability of 0
const POINTED = 0.08;
const UNSURE = 0.35; // of a word behind what was typed last
const OVER = { height: 1.5, hook: 6 }; // the line over what was forced

type EditorScene = Pick<TranslationEditor, "placed" | "open" | "data" | "theme"> & {
  boxesOf: (piece: number) => Box[]; // a piece
  fromRight: boolean; // whether the text runs from right to left
};

export function editorMarks(scene: EditorScene): Mark[] {
  const { placed, open, theme, fromRight } = scene;
  const { ink } = theme;
  const forced = placed.filter(({ word }) => word.forced);
  return [
    ...placed.flatMap(({ word, boxes }) => {
      const faded = word.sure ? 1 : UNSURE;
      const shade = SHADE * (1 - word.p) ** 2 * faded;
      const pointed = word.index === open ? POINTED : 0;
      return boxes.map(({ left, top, right, bottom }) => rect({
        x: left, y: top, width: right - left, height: bottom - top,
        fill: ink, opacity: shade + pointed,
      }));
    }),
    ...placed.flatMap((word) => bars(scene, word)),
    ...forced.flatMap(({ boxes }, n) => over(boxes, ink, n === forced.length - 1, fromRight)),
  ];
}

function bars({ open, boxesOf, data, theme, fromRight }: EditorScene, { word, boxes }: PlacedWord) {
  const faded = word.sure ? 1 : UNSURE;
  const parts = word.index === open && word.count > 1
    ? data.pieces.slice(word.first, word.first + word.count).flatMap((piece, n) =>
      barOf(boxesOf(word.first + n).map(apart), piece.p, fromRight))
    : barOf(boxes.map(apart), word.p, fromRight);
  const bar = { height: BAR.height, fill: theme.ink };
  return parts.flatMap(({ x, y, width, start, filled }) => [
    rect({ ...bar, x, y, width, opacity: TRACK * faded }),
    rect({ ...bar, x: start, y, width: filled, opacity: FILLED * faded }),
  ]);
}

/** Shorten a bar, so that a word and its full stop have a bar each. */
const apart = (box: Box) => ({ ...box, right: Math.max(box.left + 1, box.right - BAR.apart) });

function over(boxes: Box[], fill: string, last: boolean, fromRight: boolean) {
  const end = boxes[boxes.length - 1];
  const line = boxes.map(({ left, right, top }) =>
    rect({ x: left, y: top - 2, width: right - left, height: OVER.height, fill, opacity: 0.6 }));
  return last && end
    ? [...line, rect({
      x: fromRight ? end.left - OVER.height : end.right, y: end.top - 2,
      width: OVER.height, height: OVER.hook, fill, opacity: 0.6,
    })]
    : line;
}

type Verdict = "lay" | "take" | "leave";

/** The exchange with the server: an answer is laid over the text, or replaces it only where no
 * typed letter is lost by it. */
export class Exchange {
  sent = 0; // revision of the last text that was sent
  answered = 0; // and of the last that was answered
  unsent = false; // something was typed since

  get ahead() {
    return this.unsent || this.sent !== this.answered;
  }

  /** Number the text that is to be sent.
   * @param changed whether the text is another one than the server knows
   * @returns its revision; null where there is nothing to send */
  send(changed: boolean): number | null {
    const due = this.unsent && (changed || this.sent !== this.answered);
    this.unsent = false;
    return due ? ++this.sent : null;
  }

  /** Judge what the server says: `lay` its probabilities over the very same text, `take` its text,
   * or `leave` it as outdated. Something is `unsent` where the text is to be sent once more. */
  hear(answer: { text: string; revision: number }, text: string): Verdict {
    // a page that was left and entered again counts on from what the server knows
    if (answer.revision > this.sent) this.sent = answer.revision;
    // a server that has lost the session begins at 0, and never answers what was on its way
    if (answer.revision === 0 && this.answered > 0 && this.ahead) {
      this.answered = 0;
      this.unsent = true;
    }
    const outdated = answer.revision < this.answered && answer.revision > 0;
    if (answer.revision === this.sent) this.answered = this.sent;
    if (answer.text === text) return "lay";
    return this.ahead || outdated ? "leave" : "take";
  }
}
