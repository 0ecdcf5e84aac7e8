// The sentences to choose from: typed words filter them, arrow keys walk over them. Each one is a
// link to itself, so that its address can be copied.

import { boxAt, isShortcut, make, reveal } from "./core/dom.ts";
import { logText, within } from "./core/text.ts";
import type { Head } from "./head_grid/plan.ts";

export interface Sentence {
  number: number; // of its line, from 1
  source: string;
  target: string;
  logP: number | null;
  length: number; // pieces of both sides
  unlike: number; // how far heads of a kind differ from each other
  sides: [name: string, code: string][]; // source and target, with their languages' codes
}

export const sentenceOf =
  ([number, source, target, logP, length, unlike, sides]: any[]): Sentence =>
    ({ number, source, target, logP, length, unlike, sides });

const PAGE = 10; // sentences for each Page Up and Page Down

const STEPS: Record<string, (at: number, count: number) => number> = {
  ArrowUp: (at) => at - 1,
  ArrowDown: (at) => at + 1,
  PageUp: (at) => at - PAGE,
  PageDown: (at) => at + PAGE,
  Home: () => 0,
  End: (_, count) => count - 1,
};

const ORDERS: Record<string, { says: string; compare: (a: Sentence, b: Sentence) => number }> = {
  line: { says: "as in the file", compare: (a, b) => a.number - b.number },
  "log p": {
    says: "log probability, lowest first",
    compare: (a, b) => (a.logP ?? 0) - (b.logP ?? 0) || a.number - b.number,
  },
  length: { says: "longest first", compare: (a, b) => b.length - a.length || a.number - b.number },
  unlike: {
    says: "maps differ most first", compare: (a, b) => b.unlike - a.unlike || a.number - b.number,
  },
};

export class SentenceList {
  declare sentences: Sentence[];
  declare onChoose: (number: number) => void;
  chosen = -1;
  search = make("input", { type: "search", dir: "auto", placeholder: "words, or #7" });
  order = make("select");
  count = make("p", { class: "count", role: "status" });
  box = make("div", { class: "sentences", role: "listbox", "aria-label": "Sentences" });
  shown: Sentence[] = [];
  declare nodes: Map<number, HTMLAnchorElement>;

  constructor(place: HTMLElement, sentences: Sentence[], onChoose: (number: number) => void) {
    this.sentences = sentences;
    this.onChoose = onChoose;
    this.order.append(...Object.entries(ORDERS)
      .filter(([name]) => name !== "log p" || sentences.some(({ logP }) => logP != null))
      .map(([value, { says }]) => make("option", { value }, says)));
    this.nodes = new Map(sentences.map((sentence) => [sentence.number, optionOf(sentence)]));
    place.append(
      make("label", {}, "Search", this.search), make("label", {}, "Order", this.order),
      this.count, this.box);
    this.search.addEventListener("input", () => this.list());
    this.order.addEventListener("change", () => this.list());
    this.search.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "ArrowDown") return;
      event.preventDefault();
      if (this.shown.length) this.choose(this.shown[0].number);
    });
    this.box.addEventListener("keydown", (event) => this.onKey(event));
    this.list();
  }

  list() {
    const { compare } = ORDERS[this.order.value];
    this.shown = matching(this.sentences, this.search.value).sort(compare);
    this.box.replaceChildren(...this.shown.map(({ number }) => this.node(number)));
    const all = this.sentences.length.toLocaleString("en");
    this.count.textContent = this.shown.length === this.sentences.length
      ? `${all} sentence${this.sentences.length === 1 ? "" : "s"}`
      : `${this.shown.length.toLocaleString("en")} of ${all} sentences`;
    this.setTabStop();
    this.reveal();
  }

  node(number: number) {
    return this.nodes.get(number) as HTMLAnchorElement;
  }

  mark(number: number) {
    this.nodes.get(this.chosen)?.setAttribute("aria-selected", "false");
    this.chosen = number;
    this.node(number).setAttribute("aria-selected", "true");
    this.setTabStop();
    this.reveal();
  }

  /** Let Tab reach the list once, at the chosen sentence if it is in sight. */
  setTabStop() {
    const stop = this.shown.find(({ number }) => number === this.chosen) ?? this.shown[0];
    for (const { number } of this.shown) this.node(number).tabIndex = -1;
    if (stop) this.node(stop.number).tabIndex = 0;
  }

  reveal() {
    const node = this.nodes.get(this.chosen);
    if (!node?.parentNode) return;
    reveal(this.box, boxAt(0, node.offsetTop, 0, node.offsetHeight));
  }

  onKey(event: KeyboardEvent) {
    const step = STEPS[event.key];
    if (!step || isShortcut(event)) return;
    event.preventDefault();
    const at = this.shown.findIndex(({ number }) => this.node(number) === event.target);
    this.choose(this.shown[within(step(at, this.shown.length), 0, this.shown.length - 1)].number);
  }

  choose(number: number) {
    this.node(number).focus({ preventScroll: true });
    this.onChoose(number);
  }
}

function optionOf({ number, source, target, logP }: Sentence) {
  const node = make("a", { href: `#${number}`, role: "option", "aria-selected": "false" },
    make("span", { class: "number" }, `#${number}`),
    make("span", { class: "text", dir: "auto" }, source || target));
  if (source && target) node.append(make("span", { class: "target", dir: "auto" }, target));
  if (logP != null) {
    node.append(make("span", { class: "log-p" }, `log probability ${logText(logP)}`));
  }
  return node;
}

/** Find the sentences that hold every typed word, in either language.
 * @param typed `#7` asks for the line alone */
export function matching(sentences: Sentence[], typed: string) {
  const line = /^\s*#(\d+)\s*$/.exec(typed);
  if (line) return sentences.filter(({ number }) => number === Number(line[1]));
  const words = folded(typed).split(/\s+/).filter(Boolean);
  return sentences.filter(({ source, target }) => {
    const text = folded(`${source}\n${target}`);
    return words.every((word) => text.includes(word));
  });
}

const folded = (text: string) =>
  text.normalize("NFKD").replace(/\p{Diacritic}/gu, "").toLowerCase();

/** Let the button of a row of all heads open its head, and the one above a column sort the rows by
 * it, the largest first.
 * @returns marks the head that is open */
export function headTable(place: HTMLElement, onChoose: (head: Head) => void) {
  const body = place.querySelector("tbody") as HTMLTableSectionElement;
  const rows = [...body.rows]; // by kind and layer
  const mark = (head: Head) => {
    for (const row of rows) {
      const isOpen = row.dataset.head === JSON.stringify(head);
      row.querySelector("button")?.setAttribute("aria-pressed", String(isOpen));
    }
  };
  for (const row of rows) {
    row.querySelector("button")?.addEventListener("click", () => {
      const head: Head = JSON.parse(row.dataset.head as string);
      mark(head);
      onChoose(head);
    });
  }
  const tops = [...place.querySelectorAll("thead th")];
  tops.forEach((top, column) => top.querySelector("button")?.addEventListener("click", () => {
    const value = (row: HTMLTableRowElement) => Number(row.cells[column].dataset.value ?? 0);
    body.replaceChildren(...[...rows].sort((a, b) => value(b) - value(a)));
    for (const other of tops) other.removeAttribute("aria-sort");
    top.setAttribute("aria-sort", "descending");
  }));
  return mark;
}
