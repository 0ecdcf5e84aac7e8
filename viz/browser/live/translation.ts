// The translation as it follows what is typed: words that differ from those of the whole model are
// struck out or bold, and a click on a word opens what the model held probable in its place.

import { ARROWS, make, toolbar } from "../core/dom.ts";
import { displayTokens } from "../core/labels.ts";
import type { Side, Trace } from "../core/trace.ts";
import { type Chosen, Popover } from "../translation_editor/popover.ts";
import { type EditorData, wordsOf } from "../translation_editor/words.ts";
import { compared } from "../player/changes.ts";

interface Shown { text: string; space: boolean; first: number } // a word, by its first piece

/** Cut a translation into its words, `</s>` aside. */
function shownWords({ pieces, words }: Side): Shown[] {
  const shown: Shown[] = [];
  pieces.forEach((piece, n) => {
    if (piece === "</s>") return;
    const text = piece.replaceAll("▁", " ");
    if (n && words[n] === words[n - 1]) shown[shown.length - 1].text += text;
    else shown.push({ text, space: text.startsWith(" "), first: n });
  });
  return shown.map((word) => ({ ...word, text: word.text.trim() }));
}

/** Bring what the search held probable into the form of the editor's card. */
function editorData({ target, options, logProbs, edited }: Trace, language: string): EditorData {
  const raw = [...target.pieces, ...options.flatMap(({ pieces }) => pieces)];
  const labels = displayTokens(raw);
  let next = target.pieces.length; // label of an option
  const pieces = target.pieces.map((piece, n) => {
    const others = options[n].pieces.map((other, k) =>
      ({ raw: other, label: labels[next++], p: options[n].p[k] }));
    return {
      raw: piece, label: labels[n], start: 0, end: 0, logProb: logProbs[n],
      p: Math.exp(logProbs[n]), others: others.filter((_, k) => k !== options[n].taken),
    };
  });
  return {
    title: "", placeholder: "", language, text: target.text, revision: 0, byHand: false,
    constrained: false, forced: edited.prefix, pieces,
    words: wordsOf(pieces, target.words, edited.prefix),
  };
}

export class Translation {
  line = make("span", { "aria-label": "The translation, word by word" });
  spoken = make("span", { class: "headlight-unseen", "aria-live": "polite" });
  card: Popover;
  root: HTMLElement;
  data: EditorData | null = null;
  open: HTMLButtonElement | null = null; // the word whose card is open
  enter: (button: HTMLButtonElement) => void;

  /** @param choose called with the raw pieces with which the translation is to begin; null where
   *   nothing can be chosen */
  constructor(root: HTMLElement, choose: (prefix: string[]) => void) {
    this.root = root;
    this.card = new Popover((chosen) => {
      const { data } = this;
      this.close();
      if (data) choose(prefixOf(data, chosen));
    });
    root.classList.add("hl", "hl-frame");
    root.append(this.line, this.spoken, this.card.root);
    this.enter = toolbar(this.line);
    this.line.addEventListener("click", ({ target }) => {
      const word = (target as Element).closest("button");
      if (word && word !== this.open) this.show(word);
      else this.close();
    });
    this.line.addEventListener("keydown", (event) => this.onKey(event), true);
    document.addEventListener("pointerdown", (event) => {
      if (!event.composedPath().includes(root)) this.close();
    });
  }

  /** @param whole the trace of the same sentence and the whole model */
  update(trace: Trace, whole: Trace | null, language: string, isLive: boolean) {
    this.close();
    this.data = isLive ? editorData(trace, language) : null;
    const now = shownWords(trace.target);
    const before = shownWords((whole ?? trace).target);
    const parts = compared(now.map(({ text }) => text), before.map(({ text }) => text));
    const nodes = parts.flatMap(({ text, change, index }, n) => {
      const { space, first } = (change === "lost" ? before : now)[index];
      const between = space && n ? [" "] : [];
      if (change === "lost") return [...between, make("del", {}, text)];
      const word = this.wordNode(text, first);
      return [...between, change === "new" ? make("b", {}, word) : word];
    });
    this.line.lang = language;
    this.line.replaceChildren(...nodes);
    const [first] = this.line.querySelectorAll("button");
    if (first) this.enter(first);
    if (this.spoken.textContent !== trace.target.text) this.spoken.textContent = trace.target.text;
  }

  wordNode(text: string, first: number): HTMLElement {
    if (!this.data) return make("span", { "data-first": first }, text);
    return make("button", {
      type: "button", role: "combobox", "aria-label": text, "aria-haspopup": "listbox",
      "aria-expanded": "false", "aria-controls": "hl-card", "data-first": first,
      title: "Continue with another word",
    }, text);
  }

  /** Show how much is written, in subwords, while a picture plays. */
  fill(written: number) {
    for (const word of this.line.querySelectorAll<HTMLElement>("[data-first]")) {
      word.classList.toggle("hl-quiet", Number(word.dataset.first) >= written);
    }
  }

  /** @param wait what is waited for */
  clear(wait = "") {
    this.close();
    this.line.replaceChildren(make("span", { class: "hl-quiet" }, wait));
    this.spoken.textContent = "";
  }

  show(word: HTMLButtonElement, byKeys = false) {
    const { data, card, root } = this;
    this.close();
    const entry = data?.words.find(({ first }) => first === Number(word.dataset.first));
    if (!data || !entry) return;
    this.open = word;
    word.focus(); // Safari gives no focus by a click
    word.setAttribute("aria-expanded", "true");
    card.fill(data, entry, word.textContent ?? "", false);
    const [outer, { left, top, right, bottom }] = [root, word].map((node) =>
      node.getBoundingClientRect());
    card.place(root, {
      left: left - outer.left, top: top - outer.top, right: right - outer.left,
      bottom: bottom - outer.top,
    });
    if (byKeys) word.setAttribute("aria-activedescendant", card.choose(null));
  }

  close() {
    this.card.close();
    this.open?.setAttribute("aria-expanded", "false");
    this.open?.removeAttribute("aria-activedescendant");
    this.open = null;
  }

  onKey(event: KeyboardEvent) {
    const { card, open } = this;
    const word = (event.target as Element).closest("button");
    if (!word) return;
    if (open && event.key === "Escape") this.close();
    else if (event.key === "Enter" || event.key === " " || (!open && event.key === "ArrowDown")) {
      if (open && card.at) card.onChoose(card.at);
      else this.show(word, true);
    } else {
      if (!open || !ARROWS[event.key]) return;
      const id = card.at ? card.move(event.key) : card.choose(null); // a mouse has opened it
      if (id === null) return;
      word.setAttribute("aria-activedescendant", id);
    }
    event.preventDefault();
    event.stopPropagation();
  }
}

const prefixOf = ({ pieces }: EditorData, { piece, alternative }: Chosen) =>
  [...pieces.slice(0, piece).map(({ raw }) => raw), pieces[piece].others[alternative].raw];
