// One head, large: what looks is down the side, what is looked at across the top. Pointer and keys
// are answered here, from the exact weights; the host hears nothing of it.

import {
  difference, framed, hidden, make, mounted, number, placeTip, quote, readTheme, size, TALLEST,
  unpack, watch, within,
} from "./shared.js";
import { averageRow, rowOf } from "./map_bars.js";
import { drawMap, picture } from "./map_paint.js";
import { plan } from "./map_plan.js";
import { legend } from "./map_scale.js";
import { saveButtons } from "./save.js";

const HELP = "Arrow keys move over the squares, Enter keeps a row, Escape lets it go.";

const views = new WeakMap();

/**
 * @param {Element|ShadowRoot} element is filled; call again to show other data in the same place
 * @param {object} data what `unpack` gives of a map packet
 * @param {{onSelect?: (row: number|null) => void, theme?: "light"|"dark"}} options
 * @returns {() => void} takes it away again
 */
export function render(element, data, options = {}) {
  const view = mounted(element, views, () => new AttentionMap());
  view.show(data, options);
  return () => {
    views.delete(element);
    view.remove();
  };
}

export default function streamlit({ data, parentElement }) {
  return render(parentElement, unpack(data));
}

class AttentionMap {
  constructor() {
    this.title = make("h3", { class: "hl-title" });
    this.axes = make("div", { class: "hl-axes" });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.room = make("div", {}, this.canvas); // as large as the whole map; the canvas is the frame
    this.scroll = make("div", {
      class: "hl-scroll", tabindex: "0", role: "application",
    }, this.room);
    this.tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
    this.frame = framed(this.scroll, this.tip);
    this.note = make("span");
    this.legend = make("span", { class: "hl-legend" });
    this.live = make("div", { class: "hl-unseen", "aria-live": "polite" });
    this.table = make("table");
    const foot = make("div", { class: "hl-foot" }, this.note, this.legend,
      saveButtons(() => this.sheet()));
    // a table keeps the width of its words whatever it is told, so the box around it is small
    this.root = make("div", { class: "hl", role: "group" }, this.title, this.axes, this.frame,
      foot, make("div", { class: "hl-unseen" }, this.table), this.live);
    this.at = null; // {row, key} under the pointer or the cursor; key is null on a row's word
    this.pinned = null;
    this.listen();
    this.unwatch = watch(this.root, () => this.layOut());
  }

  listen() {
    this.scroll.addEventListener("pointermove", (event) => this.point(this.hit(event)));
    this.scroll.addEventListener("pointerleave", () => this.point(null));
    this.scroll.addEventListener("blur", () => this.point(null));
    this.scroll.addEventListener("scroll", () => this.draw());
    this.scroll.addEventListener("keydown", (event) => this.onKey(event));
    this.scroll.addEventListener("click", (event) => {
      const at = this.hit(event);
      this.point(at);
      if (at) this.pin(at.row);
    });
  }

  remove() {
    this.unwatch();
    this.root.remove();
  }

  show(data, options) {
    const words = JSON.stringify([data.kind, data.queries, data.keys]);
    if (words !== this.words) this.at = this.pinned = null; // another sentence, other rows
    this.words = words;
    this.data = data;
    this.options = options;
    this.title.textContent = data.title;
    this.root.setAttribute("aria-label", data.title);
    this.scroll.setAttribute("aria-label", `${data.title}. ${HELP}`);
    this.axes.replaceChildren(...axes(data).map(([name, text]) =>
      make("div", {}, make("span", {}, name), make("span", {}, text))));
    this.average = averageRow(data);
    this.amount = data.signed ? difference : number;
    this.note.textContent = data.note;
    this.describe();
    this.layOut();
  }

  /** The map in words: for each row what it looks at most, or where it differs most. */
  describe() {
    const { queries, keys, title, rows, columns, signed } = this.data;
    const [most, amount] = signed ? ["differs", "difference"] : ["looks", "weight"];
    const cells = (tag, ...texts) => make("tr", {}, ...texts.map((text) => make(tag, {}, text)));
    this.table.replaceChildren(
      make("caption", {}, `${title}: where each word ${most} most`),
      make("thead", {}, cells("th", rows, columns, amount)),
      make("tbody", {}, ...queries.map((token, row) => {
        const weights = rowOf(this.data, row);
        const sizes = weights.map(Math.abs);
        const key = sizes.indexOf(Math.max(...sizes));
        return cells("td", token, keys[key], this.amount(weights[key]));
      })),
    );
  }

  layOut() {
    const width = this.root.clientWidth;
    if (!this.data || !width) return;
    const context = this.canvas.getContext("2d");
    this.theme = readTheme(this.root, context, this.options.theme);
    context.font = `600 14px ${this.theme.font}`; // the bold of a highlighted word is the widest
    this.plan = plan(this.data, width, (text) => context.measureText(text).width);
    this.room.style.width = `${this.plan.width}px`;
    this.room.style.height = `${this.plan.height}px`;
    // a scroll bar takes its room from below the map, not from the map
    const bar = this.plan.width > width ? this.scroll.offsetHeight - this.scroll.clientHeight : 0;
    this.scroll.style.height = `${Math.min(this.plan.height, TALLEST) + bar}px`;
    this.colors = this.data.palette[this.theme.name];
    this.picture = picture(this.data, this.colors);
    this.showLegend();
    this.draw();
  }

  draw() {
    if (!this.plan) return;
    const width = Math.min(this.scroll.clientWidth, this.plan.width);
    const height = Math.min(this.scroll.clientHeight, this.plan.height);
    const context = size(this.canvas, width, height);
    // words stay while the squares scroll, unless they would leave the squares no room
    const stays = this.plan.left <= this.scroll.clientWidth / 2;
    this.x = this.plan.left - this.scroll.scrollLeft;
    this.y = this.plan.top - this.scroll.scrollTop;
    this.edge = stays ? this.plan.left : this.x;
    drawMap(context, { ...this, width, height });
    this.showTip();
    const { x, y, edge, plan, theme, pinned, at } = this;
    const { square, font, top } = plan;
    // what a test must know to find a square
    const origin = { x, y, square, font, left: edge, top };
    this.root.__headlight = { ...this.data, theme: theme.name, pinned, at, origin };
  }

  showLegend() {
    this.legend.replaceChildren(...legend(this.data, this.colors).map((part) => {
      if (typeof part === "string") return make("span", {}, part);
      const canvas = make("canvas", { "aria-hidden": "true" });
      part.draw(size(canvas, part.width, part.height));
      return canvas;
    }));
  }

  /** All of the map for a file: nothing is scrolled out of it and nothing is pointed at. */
  sheet() {
    const { data, plan, theme, colors } = this;
    const { left: x, top: y, width, height } = plan;
    const scene = { ...this, at: null, x, y, edge: x, width, height };
    return {
      name: data.title, title: data.title, note: data.note, theme, width, height,
      lines: axes(data).map((words) => words.join(" ")),
      legend: legend(data, colors),
      draw: (context) => drawMap(context, scene),
    };
  }

  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = Math.floor((y - this.y) / this.plan.square);
    const key = Math.floor((x - this.x) / this.plan.square);
    if (y < this.plan.top || row >= this.data.queries.length) return null;
    if (x >= this.edge && key >= this.data.keys.length) return null;
    return { row, key: x < this.edge ? null : key };
  }

  point(at) {
    if (at?.row === this.at?.row && at?.key === this.at?.key) return;
    this.at = at;
    this.draw();
  }

  pin(row) {
    this.pinned = this.pinned === row ? null : row;
    this.draw();
    this.options.onSelect?.(this.pinned);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { row, key } = this.at ?? { row: this.pinned ?? 0, key: null };
    const [rows, keys] = [this.data.queries.length, this.data.keys.length];
    const to = key == null ? { row, key: 0 } : {
      ArrowUp: { row: Math.max(0, row - 1), key },
      ArrowDown: { row: Math.min(rows - 1, row + 1), key },
      ArrowLeft: { row, key: Math.max(0, key - 1) },
      ArrowRight: { row, key: Math.min(keys - 1, key + 1) },
      Home: { row, key: 0 },
      End: { row, key: keys - 1 },
    }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      this.pin(row);
      this.live.textContent = this.pinned == null ? "row let go"
        : `row ${quote(this.data.queries[row])} kept`;
    } else if (event.key === "Escape") {
      this.at = this.pinned = null;
      this.draw();
    } else if (to && /^(Arrow|Home$|End$)/.test(event.key)) {
      this.reveal(to);
      this.point(to);
      this.live.textContent = this.sentence(to).join(" ");
    } else return;
    event.preventDefault();
  }

  /** Scroll so that a square lies clear of the words at both edges. */
  reveal({ row, key }) {
    const { square, left, top } = this.plan;
    const { scroll } = this;
    const [x, y] = [key * square, row * square];
    scroll.scrollLeft = within(scroll.scrollLeft, x + square + left - scroll.clientWidth, x);
    scroll.scrollTop = within(scroll.scrollTop, y + square + top - scroll.clientHeight, y);
  }

  sentence({ row, key }) {
    const { queries, keys, weights } = this.data;
    const weight = weights[row * keys.length + key];
    const unseen = hidden(this.data, row, key, weight);
    const amount = unseen ? "hidden, it comes later" : this.amount(weight);
    return [`${quote(queries[row])} → ${quote(keys[key])}`, amount];
  }

  showTip() {
    this.tip.hidden = this.at?.key == null;
    if (this.tip.hidden) return;
    const { row, key } = this.at;
    const [words, weight] = this.sentence(this.at);
    this.tip.replaceChildren(words, make("strong", {}, weight));
    const read = this.data.reads?.[row];
    if (read) this.tip.append(make("div", {}, `after reading ${quote(read)}`));
    const { square } = this.plan;
    const [left, top] = [this.x + key * square, this.y + row * square];
    placeTip(this.tip, this.frame, { left, top, right: left + square, bottom: top + square });
  }
}

const axes = (data) => [["Rows ↓", data.rows], ["Columns →", data.columns]];
