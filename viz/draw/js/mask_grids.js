// The masks of a batch: one grid for each sentence, side by side where there is room. Pointer and
// keys are answered here; the host hears only which row is chosen.

import {
  framed, make, mounted, placeTip, quote, readTheme, size, watch, within,
} from "./shared.js";
import { extent, paintMask, planMasks } from "./mask_paint.js";
import { saveButtons } from "./save.js";

const HELP = "Arrow keys move over the squares, Enter chooses a row.";
const SIDE = 18; // of a square in the legend
const SHEET = { widest: 1400, apart: 32, title: 28 }; // of what is saved
const ADDED = ["True, so 0 is added", "False, so −∞ is added"];

const views = new WeakMap();

/**
 * @param {Element|ShadowRoot} element is filled; call again to show other data in the same place
 * @param {object} data what `mask_grids.py` sends
 * @param {{onSelect?: (at: [number, number]) => void, theme?: "light"|"dark"}} options
 * @returns {() => void} takes it away again
 */
export function render(element, data, options = {}) {
  const view = mounted(element, views, () => new MaskGrids());
  view.show(data, options);
  return () => {
    views.delete(element);
    view.remove();
  };
}

export default function streamlit({ data, parentElement, setTriggerValue }) {
  return render(parentElement, data, { onSelect: (at) => setTriggerValue("picked", at) });
}

class MaskGrids {
  constructor() {
    this.tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
    this.room = make("div", { class: "hl-masks" });
    this.frame = make("div", { class: "hl-frame" }, this.room, this.tip);
    this.legend = make("div", { class: "hl-legends" });
    this.foot = make("div", { class: "hl-foot" }, this.legend, saveButtons(() => this.sheet()));
    this.live = make("div", { class: "hl-unseen", "aria-live": "polite" });
    this.root = make("div", { class: "hl", role: "group" }, this.frame, this.foot, this.live);
    this.panels = [];
    this.at = null; // {panel, row, key} under the pointer or the cursor
    this.unwatch = watch(this.root, () => this.layOut());
  }

  remove() {
    this.unwatch();
    this.root.remove();
  }

  show(data, options) {
    const words = JSON.stringify(data.grids.map((grid) => [grid.queries, grid.keys]));
    if (words !== this.words) this.at = null; // other sentences, other squares
    this.words = words;
    this.data = data;
    this.options = options;
    this.root.setAttribute("aria-label", data.title);
    while (this.panels.length > data.grids.length) this.panels.pop().root.remove();
    while (this.panels.length < data.grids.length) this.panels.push(this.panel());
    data.grids.forEach((grid, n) => this.name(this.panels[n], grid));
    this.layOut();
  }

  /** The empty place of one sentence's grid. */
  panel() {
    const number = this.panels.length;
    const title = make("h3", { class: "hl-title" });
    const canvas = make("canvas", { "aria-hidden": "true" });
    const scroll = make("div", {
      class: "hl-scroll", tabindex: "0", role: "application",
    }, canvas);
    const table = make("table");
    const root = make("div", { class: "hl-mask" }, title, framed(scroll),
      make("div", { class: "hl-unseen" }, table));
    scroll.addEventListener("pointermove", (event) => this.point(this.hit(number, event)));
    scroll.addEventListener("pointerleave", () => this.point(null));
    scroll.addEventListener("blur", () => this.point(null));
    scroll.addEventListener("keydown", (event) => this.onKey(number, event));
    scroll.addEventListener("click", (event) => {
      const at = this.hit(number, event);
      this.point(at);
      if (at) this.options.onSelect?.([number, at.row]);
    });
    this.room.append(root);
    return { root, title, canvas, scroll, table };
  }

  /** What a grid says without being seen: its title, and how much of the batch each row sees. */
  name({ title, scroll, table }, grid) {
    title.textContent = grid.title;
    scroll.setAttribute("aria-label", `${this.data.title}, ${grid.title}. ${HELP}`);
    const cells = (tag, ...texts) => make("tr", {}, ...texts.map((text) => make(tag, {}, text)));
    const seen = (row) => [...grid.why[row]].filter((code) => code === "0").length;
    table.replaceChildren(
      make("caption", {}, `${this.data.title}, ${grid.title}`),
      make("thead", {}, cells("th", "token", "tokens that it may see")),
      make("tbody", {}, ...grid.queries.map((token, row) =>
        cells("td", token, `${seen(row)} of ${grid.keys.length}`))),
    );
  }

  layOut() {
    const width = this.root.clientWidth;
    if (!this.data || !width) return;
    const [first] = this.panels;
    const context = first.canvas.getContext("2d");
    this.theme = readTheme(this.root, context, this.options.theme);
    context.font = `600 13px ${this.theme.font}`; // the bold of a word that is pointed at
    this.plan = planMasks(this.data.grids, width, (text) => context.measureText(text).width);
    this.showLegend();
    this.draw();
  }

  draw() {
    if (!this.plan) return;
    const { data, plan, theme } = this;
    data.grids.forEach((grid, n) => {
      const context = size(this.panels[n].canvas, ...extent(plan, grid));
      const at = this.at?.panel === n ? this.at : null;
      paintMask(context, this.scene(n, at));
    });
    this.showTip();
    this.root.__headlight = { ...data, plan, at: this.at, theme: theme.name }; // for tests
  }

  /** What `paintMask` takes for the grid of sentence `n`. */
  scene(n, at) {
    const { data, plan, theme } = this;
    const [sentence, row] = data.chosen ?? [];
    return {
      grid: data.grids[n], plan, theme, at, chosen: sentence === n ? row : null,
      color: data.color, numbers: data.numbers,
    };
  }

  /** What stands in the squares, with the boolean and the reason that it stands for. */
  showLegend() {
    this.legend.replaceChildren(...this.data.legend.map(([code, text]) => {
      const canvas = make("canvas", { "aria-hidden": "true" });
      this.paintSample(size(canvas, SIDE, SIDE), code);
      return make("span", { class: "hl-legend" }, canvas, make("span", {}, text));
    }));
  }

  paintSample(context, code) {
    paintMask(context, {
      grid: { queries: [], keys: [], faded: [false], why: [String(code)] },
      plan: { square: SIDE, left: 0, top: 0 }, theme: this.theme, at: null, chosen: null,
      color: this.data.color, numbers: this.data.numbers,
    });
  }

  /** What is saved: the grids side by side, as many as a page takes. */
  sheet() {
    const { data, plan, theme } = this;
    const [width, height] = extent(plan, data.grids[0]); // a batch is padded: all are alike
    const [across, down] = [width + SHEET.apart, height + SHEET.title + SHEET.apart];
    const columns = within(Math.floor(SHEET.widest / across), 1, data.grids.length);
    return {
      name: data.title, title: data.title, theme, lines: [],
      width: columns * across - SHEET.apart,
      height: Math.ceil(data.grids.length / columns) * down - SHEET.apart,
      note: "", legend: data.legend.flatMap(([code, text]) =>
        [{ width: SIDE, draw: (context) => this.paintSample(context, code) }, text]),
      draw: (context) => data.grids.forEach((grid, n) => {
        context.save();
        context.translate((n % columns) * across, Math.floor(n / columns) * down);
        context.fillStyle = theme.ink;
        context.font = `600 14px ${theme.font}`;
        context.textAlign = "left";
        context.textBaseline = "alphabetic";
        context.fillText(grid.title, 0, 14);
        context.translate(0, SHEET.title);
        paintMask(context, this.scene(n, null));
        context.restore();
      }),
    };
  }

  hit(panel, event) {
    const box = this.panels[panel].canvas.getBoundingClientRect();
    const { left, top, square } = this.plan;
    const row = Math.floor((event.clientY - box.top - top) / square);
    const key = Math.floor((event.clientX - box.left - left) / square);
    const grid = this.data.grids[panel];
    if (row < 0 || row >= grid.queries.length || key >= grid.keys.length) return null;
    return { panel, row, key: Math.max(key, 0) }; // beside a row's word, too, the row is chosen
  }

  point(at) {
    if (["panel", "row", "key"].every((part) => at?.[part] === this.at?.[part])) return;
    this.at = at;
    this.draw();
  }

  onKey(panel, event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const grid = this.data.grids[panel];
    const { row, key } = this.at?.panel === panel ? this.at : { row: 0, key: -1 };
    const to = {
      ArrowUp: [row - 1, key], ArrowDown: [row + 1, key],
      ArrowLeft: [row, key - 1], ArrowRight: [row, key + 1],
    }[event.key];
    if (to) {
      this.point({
        panel,
        row: within(to[0], 0, grid.queries.length - 1),
        key: within(to[1], 0, grid.keys.length - 1),
      });
      this.live.textContent = this.sentence(this.at).join(" ");
    } else if (event.key === "Enter" || event.key === " ") {
      this.options.onSelect?.([panel, row]);
      this.live.textContent = `row ${quote(grid.queries[row])} chosen`;
    } else return;
    event.preventDefault();
  }

  sentence({ panel, row, key }) {
    const grid = this.data.grids[panel];
    const code = Number(grid.why[row][key]);
    const [query, other] = [quote(grid.queries[row]), quote(grid.keys[key])];
    const text = code ? `${query} may not see ${other}: ${this.data.said[code]}.`
      : `${query} may see ${other}.`;
    return [text, ADDED[code ? 1 : 0]];
  }

  showTip() {
    this.tip.hidden = this.at == null;
    if (this.at == null) return;
    const { panel, row, key } = this.at;
    const [text, added] = this.sentence(this.at);
    this.tip.replaceChildren(text, make("div", {}, added));
    if (this.data.grids[panel].faded[row]) {
      this.tip.append(make("div", {}, "The row of padding itself is read by nobody."));
    }
    const box = this.panels[panel].canvas.getBoundingClientRect();
    const frame = this.frame.getBoundingClientRect();
    const { square } = this.plan;
    const left = box.left - frame.left + this.plan.left + key * square;
    const top = box.top - frame.top + this.plan.top + row * square;
    placeTip(this.tip, this.frame, { left, top, right: left + square, bottom: top + square });
  }
}
