// The numbers of one weight, in place of the bars: how a head computes it from q · k.

import { button, fillTable, make } from "../core/dom.ts";
import { fixed, number, quote } from "../core/text.ts";
import type { Head } from "./plan.ts";

const ROWS = 5;

/** As `encode_numbers` of viz/draw/player.py sends it: one row of a head's map. */
export interface Numbers extends Head {
  query: number;
  key: number;
  d_k: number;
  reader: string; // the word of the row
  keys: string[];
  dots: number[]; // q · k of each key
  scores: number[]; // the same ÷ √d_k; masked ones are left out of the softmax
  weights: number[];
}

export class NumbersPanel {
  title = make("strong");
  table = make("table");
  about = make("p", { class: "hl-quiet" });
  root: HTMLElement;

  constructor(close: () => void) {
    const head = make("div", { class: "hl-card-head" }, this.title,
      button("✕", close, { "aria-label": "Close the numbers" }));
    this.root = make("div", {
      class: "hl-player-numbers", role: "region", "aria-label": "Numbers", translate: "no",
      hidden: "",
    }, head, this.table, this.about);
  }

  show(numbers: Numbers | null) {
    this.root.hidden = !numbers;
    if (!numbers) return;
    const { key, keys, dots, scores, weights, d_k: width, reader, layer, head } = numbers;
    const order = keys.map((_, n) => n).sort((a, b) => weights[b] - weights[a]);
    const shown = order.slice(0, ROWS);
    if (!shown.includes(key)) shown[ROWS - 1] = key;
    this.title.textContent = `L${layer + 1} H${head + 1}: ${quote(reader)} → ${quote(keys[key])}`;
    fillTable(this.table, "", ["", "q · k", `÷ √${width}`, "softmax"], shown.map((n) =>
      [keys[n], fixed(dots[n], 2), fixed(scores[n], 2), number(weights[n])]));
    [...this.table.tBodies[0].rows].forEach((row, n) =>
      row.classList.toggle("hl-here", shown[n] === key));
    this.about.textContent = shown.length < keys.length
      ? `The ${shown.length} largest of ${keys.length}; all ${keys.length} add up to 1.`
      : "They add up to 1.";
  }
}
