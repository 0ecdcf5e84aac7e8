// The card under a word: its probability, that of each of its pieces, and what the model held
// probable in the place of each. The focus stays in the text while one chooses.

import { ARROWS, type Box, make } from "../core/dom.ts";
import { isolate, logText, number, quote, SPECIAL, within } from "../core/text.ts";
import type { EditorData, EditorWord } from "./words.ts";

export interface Chosen { piece: number; alternative: number }

const EDGE = 10; // between the word and the card

export class Popover {
  declare onChoose: (chosen: Chosen) => void;
  head = make("div", { class: "hl-card-head" });
  list = make("div", { class: "hl-card-pieces", role: "listbox", id: "hl-card" });
  root = make("div", { class: "hl-card", hidden: "" }, this.head, this.list);
  rows: { first: number; others: HTMLElement[][] } = { first: 0, others: [] };
  at: Chosen | null = null; // by the arrow keys

  constructor(onChoose: (chosen: Chosen) => void) {
    this.onChoose = onChoose;
    // the focus stays in the text, and with it the phone's keyboard
    this.root.addEventListener("mousedown", (event) => event.preventDefault());
  }

  get isOpen() {
    return !this.root.hidden;
  }

  close() {
    this.root.hidden = true;
    this.at = null;
  }

  /** @param locked whether nothing can be chosen while an answer is on its way */
  fill(data: EditorData, word: EditorWord, name: string, locked: boolean) {
    this.head.replaceChildren(make("strong", {}, isolate(name)),
      make("span", {}, `p ${number(word.p)} · log probability ${logText(word.logProb)}`),
      ...(word.forced ? [make("span", {}, "forced")] : []),
      make("span", {}, "Choose a beginning: the model goes on from it."));
    this.list.setAttribute("aria-label", `Instead of ${quote(name)}`);
    this.root.classList.toggle("hl-locked", locked);
    this.rows = { first: word.first, others: [] };
    const pieces = data.pieces.slice(word.first, word.first + word.count);
    this.list.replaceChildren(...pieces.map((piece, n) => {
      const index = word.first + n;
      const others = piece.others.map((other, alternative) => {
        const row = line(beginningWith(pieces.slice(0, n), other), other.p, {
          role: "option", id: `hl-other-${index}-${alternative}`, "aria-selected": "false",
          "aria-disabled": String(locked),
          class: other.p > piece.p ? "hl-card-row hl-rather" : "hl-card-row",
        });
        row.addEventListener("click", () => this.onChoose({ piece: index, alternative }));
        return row;
      });
      this.rows.others.push(others);
      const written = line(piece.label, piece.p, { class: "hl-card-row hl-written" });
      written.setAttribute("aria-hidden", "true"); // the group's name says it
      return make("div", { class: "hl-card-piece", role: "group",
        "aria-label": `${quote(piece.label)} ${number(piece.p)}` }, written, ...others);
    }));
    if (this.at) this.choose(this.at);
  }

  /** Select the alternative of the arrow keys; the first where they begin.
   * @returns id of the row; none where there is nothing to choose */
  choose(at: Chosen | null): string {
    const { first, others } = this.rows;
    for (const row of others.flat()) row.setAttribute("aria-selected", "false");
    const wanted = at ?? { piece: first + others.findIndex((rows) => rows.length), alternative: 0 };
    const row = others[wanted.piece - first]?.[wanted.alternative];
    this.at = row ? wanted : null;
    row?.setAttribute("aria-selected", "true");
    row?.scrollIntoView({ block: "nearest", inline: "nearest" });
    return row?.id ?? "";
  }

  /** Move by an arrow key. @returns id of the row; null where the key is not one of the card's */
  move(key: string): string | null {
    if (!this.at || !ARROWS[key]) return null;
    return this.choose(step(this.at, ARROWS[key], this.rows));
  }

  place(frame: HTMLElement, { left, top, bottom }: Box) {
    this.root.hidden = false;
    const { root } = this;
    const outer = frame.getBoundingClientRect();
    const below = bottom + EDGE;
    const above = top - EDGE - root.offsetHeight;
    const fits = outer.top + below + root.offsetHeight <= window.innerHeight
      || outer.top + above < 0;
    const last = Math.max(0, frame.clientWidth - root.offsetWidth);
    root.style.left = `${within(left - EDGE, 0, last)}px`;
    root.style.top = `${fits ? below : above}px`;
  }
}

type Labelled = Pick<EditorData["pieces"][number], "raw" | "label">;

/** Name a piece with what stands before it in its word: `laufen`, and not `·en`. */
export const beginningWith = (before: Labelled[], { raw, label }: Labelled) =>
  (SPECIAL.has(raw) || !before.length ? label
    : [...before.map((piece) => piece.raw), raw].join("").replaceAll("▁", " ").trim());

export function step(
  at: Chosen, [pieces, alternatives]: [piece: number, alternative: number],
  { first, others }: { first: number; others: ArrayLike<unknown>[] },
): Chosen {
  const piece = within(at.piece + pieces, first, first + others.length - 1);
  const count = others[piece - first].length;
  if (!count) return at;
  return { piece, alternative: within(at.alternative + alternatives, 0, count - 1) };
}

function line(label: string, p: number, attributes: Record<string, string>) {
  const bar = make("i");
  bar.style.width = `${100 * p}%`;
  return make("div", attributes, make("span", { class: "hl-card-name" }, isolate(label)),
    make("span", {}, number(p)), make("b", { "aria-hidden": "true" }, bar));
}
