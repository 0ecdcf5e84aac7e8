// Every head at a glance: small maps, layers down and heads across. One canvas holds all pictures;
// over each lies an empty grid cell, which has the focus, the name and the outline.

import {
  hidden, make, mounted, paint, placeTip, quote, readTheme, size, unpack, watch,
} from "./shared.js";

const GAP = 6; // between two maps, CSS pixels
const NAMES = 24; // room for L1 … and H1 …
const LARGEST = 84; // a map's side; wider screens get paper instead of blurred squares

const views = new WeakMap();

/**
 * @param {Element|ShadowRoot} element is filled; call again to show other data in the same place
 * @param {object} data what `unpack` gives of a grid packet
 * @param {{onSelect?: (head: [number, number]) => void, theme?: "light"|"dark"}} options
 * @returns {() => void} takes it away again
 */
export function render(element, data, options = {}) {
  const view = mounted(element, views, () => new HeadGrid());
  view.show(data, options);
  return () => {
    views.delete(element);
    view.remove();
  };
}

export default function streamlit({ data, parentElement, setTriggerValue }) {
  return render(parentElement, unpack(data), {
    onSelect: (head) => setTriggerValue("picked", head),
  });
}

class HeadGrid {
  constructor() {
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.grid = make("div", { class: "hl-grid", role: "grid" });
    this.tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
    this.box = make("div", { class: "hl-grid-box" }, this.canvas, this.grid, this.tip);
    this.note = make("div", { class: "hl-foot" });
    this.root = make("div", { class: "hl" }, this.box, this.note);
    this.shape = "";
    this.grid.addEventListener("click", (event) => this.pick(event.target));
    this.grid.addEventListener("keydown", (event) => this.onKey(event));
    this.grid.addEventListener("pointerover", (event) => this.point(event.target));
    this.grid.addEventListener("pointerleave", () => this.point(null));
    this.grid.addEventListener("focusin", (event) => this.point(event.target));
    this.grid.addEventListener("focusout", () => this.point(null));
    this.unwatch = watch(this.root, () => this.draw());
  }

  remove() {
    this.unwatch();
    this.root.remove();
  }

  show(data, options) {
    this.data = data;
    this.options = options;
    const shape = `${data.layers} ${data.heads}`;
    if (shape !== this.shape) this.build();
    this.shape = shape;
    this.cells.flat().forEach((one, number) => {
      one.setAttribute("aria-description", strongest(data, number));
    });
    this.select(data.selected);
    this.draw();
  }

  build() {
    const { layers, heads } = this.data;
    const many = (count) => Array.from({ length: count }, (_, n) => n);
    this.grid.setAttribute("aria-label", `${layers} layers of ${heads} heads`);
    this.columns = many(heads).map((head) => name("columnheader", `H${head + 1}`));
    this.rows = many(layers).map((layer) => name("rowheader", `L${layer + 1}`));
    this.cells = many(layers).map((layer) => many(heads).map((head) => cell(layer, head)));
    const top = make("div", { class: "hl-row", role: "row" }, make("span", {}), ...this.columns);
    const rest = this.cells.map((cells, layer) =>
      make("div", { class: "hl-row", role: "row" }, this.rows[layer], ...cells));
    this.grid.replaceChildren(top, ...rest);
  }

  select([layer, head]) {
    this.selected = [layer, head];
    for (const one of this.cells.flat()) {
      const is = one.at[0] === layer && one.at[1] === head;
      one.setAttribute("aria-selected", String(is));
      one.tabIndex = is ? 0 : -1; // Tab reaches the grid once, arrows go on from there
    }
  }

  pick(target) {
    if (!target.at) return;
    this.select(target.at); // at once: the answer from Python would be a moment late
    this.root.__headlight.selected = this.selected;
    this.options.onSelect?.(target.at);
  }

  onKey(event) {
    if (!event.target.at || event.ctrlKey || event.metaKey || event.altKey) return;
    const { layers, heads } = this.data;
    const [layer, head] = event.target.at;
    const to = {
      ArrowUp: [Math.max(0, layer - 1), head],
      ArrowDown: [Math.min(layers - 1, layer + 1), head],
      ArrowLeft: [layer, Math.max(0, head - 1)],
      ArrowRight: [layer, Math.min(heads - 1, head + 1)],
      Home: [layer, 0],
      End: [layer, heads - 1],
    }[event.key];
    if (to) this.cells[to[0]][to[1]].focus();
    else if (event.key === "Enter" || event.key === " ") this.pick(event.target);
    else return;
    event.preventDefault();
  }

  point(target) {
    const at = target?.at;
    this.columns.forEach((one, head) => one.classList.toggle("hl-on", at?.[1] === head));
    this.rows.forEach((one, layer) => one.classList.toggle("hl-on", at?.[0] === layer));
    this.tip.hidden = !at;
    if (!at) return;
    this.tip.textContent = `L${at[0] + 1} H${at[1] + 1}`;
    const { offsetLeft: left, offsetTop: top } = target;
    const [right, bottom] = [left + target.offsetWidth, top + target.offsetHeight];
    placeTip(this.tip, this.box, { left, top, right, bottom });
  }

  draw() {
    const width = this.root.clientWidth;
    if (!this.data || !width) return;
    const { layers, heads, queries, keys } = this.data;
    const side = Math.floor(Math.min(LARGEST, (width - NAMES) / heads - GAP));
    // as tall as its words ask for, so that a square is a square; within reason
    const tall = Math.round(side * Math.min(1.5, Math.max(0.6, queries.length / keys.length)));
    this.grid.style.gridTemplateColumns = `${NAMES}px repeat(${heads}, ${side}px)`;
    this.grid.style.gridTemplateRows = `${NAMES}px repeat(${layers}, ${tall}px)`;
    this.grid.style.gap = `${GAP}px`;
    const context = size(this.canvas, NAMES + heads * (side + GAP),
      NAMES + layers * (tall + GAP));
    const theme = readTheme(this.root, context, this.options.theme);
    const ratio = this.canvas.width / (NAMES + heads * (side + GAP));
    const [across, down] = [Math.round(side * ratio), Math.round(tall * ratio)];
    const image = new ImageData(across, down);
    for (let layer = 0; layer < layers; layer++) {
      for (let head = 0; head < heads; head++) {
        this.tile(image, layer * heads + head, this.data.palette[theme.name]);
        const x = NAMES + GAP + head * (side + GAP);
        const y = NAMES + GAP + layer * (tall + GAP);
        context.putImageData(image, Math.round(x * ratio), Math.round(y * ratio));
      }
    }
    const folded = keys.length > across || queries.length > down;
    this.note.hidden = !folded;
    this.note.textContent = folded
      ? "More words than pixels: each pixel shows the largest weight that falls on it." : "";
    this.root.__headlight = { ...this.data, selected: this.selected, theme: theme.name, folded };
  }

  // every weight falls on one pixel, or covers several; where some share one, the largest counts:
  // an average would hide the single bright square that makes a head worth opening
  tile(image, number, colors) {
    const { data: pixels, width, height } = image;
    const [rows, columns] = [this.data.queries.length, this.data.keys.length];
    const weights = weightsOf(this.data, number);
    const [xs, ys] = [spans(width, columns), spans(height, rows)];
    pixels.fill(0);
    for (let y = 0, at = 0; y < height; y++) {
      for (let x = 0; x < width; x++, at += 4) {
        let most = 0;
        for (let query = ys[y][0]; query < ys[y][1]; query++) {
          for (let key = xs[x][0]; key < xs[x][1]; key++) {
            most = Math.max(most, weights[query * columns + key]);
          }
        }
        if (!hidden(this.data, ys[y][1] - 1, xs[x][0], most)) paint(pixels, at, colors, most);
      }
    }
  }
}

/** For each of `pixels`, the first of `count` cells on it and the first that no longer is. */
function spans(pixels, count) {
  return Array.from({ length: pixels }, (_, n) => {
    const first = Math.floor((n * count) / pixels);
    return [first, Math.max(first + 1, Math.floor(((n + 1) * count) / pixels))];
  });
}

function weightsOf({ weights, queries, keys }, number) {
  const count = queries.length * keys.length;
  return weights.subarray(number * count, (number + 1) * count);
}

/** A small map in words. */
function strongest(data, number) {
  const weights = weightsOf(data, number);
  const most = weights.reduce((a, b) => Math.max(a, b), 0);
  const at = weights.indexOf(most);
  const [query, key] = [Math.floor(at / data.keys.length), at % data.keys.length];
  const words = `${quote(data.queries[query])} to ${quote(data.keys[key])}`;
  return `looks most from ${words}, ${(most / 255).toFixed(2)}`;
}

const name = (role, text) => make("span", { class: "hl-name", role }, text);

function cell(layer, head) {
  const label = `layer ${layer + 1}, head ${head + 1}`;
  const node = make("div", { class: "hl-cell", role: "gridcell", "aria-label": label });
  node.at = [layer, head];
  return node;
}
