// Every head at a glance: small maps, by kind and layer or in an order of their own. One canvas is
// the picture; over each map lies an empty grid cell, which has the focus, the name, the outline.

import { make, mounted, placeTip, readTheme, size, watch } from "./shared.js";
import { describe, ident, labelOf, notesOn, titleOf, unpackGrid } from "./grid_data.js";
import { planGrid } from "./grid_plan.js";
import { fontOf, paintGrid } from "./grid_paint.js";
import { onSelected, selected } from "./selection.js";
import { savePng, saveSvg } from "./grid_save.js";

const views = new WeakMap();

/**
 * @param {Element|ShadowRoot} element is filled; call again to show other data in the same place
 * @param {object} data what `unpackGrid` gives
 * @param {{onSelect?: (head: [string, number, number]) => void, theme?: "light"|"dark"}} options
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
  return render(parentElement, { ...unpackGrid(data), selected: selected() }, {
    onSelect: (head) => setTriggerValue("picked", head),
  });
}

class HeadGrid {
  constructor() {
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.grid = make("div", { class: "hl-grid", role: "grid" });
    this.tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
    this.box = make("div", { class: "hl-grid-box" }, this.canvas, this.grid, this.tip);
    this.note = make("span", { role: "status" });
    this.foot = make("div", { class: "hl-foot" }, this.note, make("span", { class: "hl-save" },
      button("PNG", () => savePng(this)), button("SVG", () => saveSvg(this))));
    this.live = make("div", { class: "hl-unseen", "aria-live": "polite" });
    this.root = make("div", { class: "hl", role: "group" }, this.box, this.foot, this.live);
    this.nodes = new Map(); // ident → grid cell
    this.order = ""; // of the cells in the document
    this.pointed = null;
    this.listen();
    this.unwatch = watch(this.root, () => this.layOut());
    this.unfollow = onSelected((head) => this.follow(head));
  }

  listen() {
    this.grid.addEventListener("click", (event) => this.pick(event.target));
    this.grid.addEventListener("keydown", (event) => this.onKey(event));
    this.grid.addEventListener("pointerover", (event) => this.point(event.target));
    this.grid.addEventListener("pointerleave", () => this.point(null));
    this.grid.addEventListener("focusin", (event) => {
      this.stop(event.target); // Shift and Tab leave the grid from where it has the focus
      this.point(event.target);
    });
    this.grid.addEventListener("focusout", () => {
      this.stop(this.nodes.get(ident(this.selected)));
      this.point(null);
    });
  }

  remove() {
    this.unwatch();
    this.unfollow();
    this.root.remove();
  }

  show(data, options) {
    this.data = data;
    this.options = options;
    this.selected = data.selected;
    this.layOut();
  }

  layOut() {
    const width = this.root.clientWidth;
    if (!this.data || !width) return;
    const pen = this.canvas.getContext("2d");
    this.theme = readTheme(this.root, pen, this.options.theme);
    this.plan = planGrid(this.data, width, (text, letters) => {
      pen.font = fontOf(this.theme, letters);
      return pen.measureText(text).width;
    });
    this.place();
    this.select(this.selected);
    const context = size(this.canvas, this.plan.width, this.plan.height);
    const folded = paintGrid(context, this, this.canvas.width / this.plan.width);
    this.notes = notesOn(this.data, folded);
    const note = this.notes.join(" ");
    if (note !== this.note.textContent) this.note.textContent = note; // it is read out on change
    this.point(this.grid.contains(this.pointed) ? this.pointed : null);
  }

  /** A grid cell over each map; those that stay are the same elements as before. */
  place() {
    const { cells, groups, height } = this.plan;
    this.grid.style.height = `${height}px`;
    const order = JSON.stringify(groups.map(({ rows }) =>
      rows.map((row) => row.map(({ id }) => id))));
    if (order !== this.order) this.build(groups);
    this.order = order;
    for (const cell of cells) {
      const node = this.nodes.get(cell.id);
      node.cell = cell;
      node.setAttribute("aria-label", labelOf(cell));
      node.setAttribute("aria-description", describe(cell));
      const { x, y, wide, high } = cell;
      Object.assign(node.style,
        { left: `${x}px`, top: `${y}px`, width: `${wide}px`, height: `${high}px` });
    }
  }

  build(groups) {
    const focused = this.grid.getRootNode().activeElement;
    const before = this.nodes;
    this.nodes = new Map(groups.flatMap(({ rows }) => rows.flat()).map(({ id }) =>
      [id, before.get(id) ?? make("div", { class: "hl-cell", role: "gridcell" })]));
    const names = groups.map(({ name }) => name).join(", ");
    this.grid.setAttribute("aria-label", `${this.nodes.size} attention heads: ${names}`);
    this.grid.replaceChildren(...groups.map(({ name, rows }) =>
      make("div", { role: "rowgroup", "aria-label": name }, ...rows.map((row) =>
        make("div", { role: "row" }, ...row.map(({ id }) => this.nodes.get(id)))))));
    if (this.grid.contains(focused)) focused.focus({ preventScroll: true });
  }

  /** Python says which head is selected; before the first picture it is kept for that. */
  follow(head) {
    if (this.plan) this.select(head);
    else this.selected = head;
  }

  select(selected) {
    this.selected = selected;
    for (const [id, node] of this.nodes) {
      node.setAttribute("aria-selected", String(id === ident(selected)));
    }
    const focused = this.grid.getRootNode().activeElement;
    this.stop(this.grid.contains(focused) ? focused : this.nodes.get(ident(selected)));
    this.root.__headlight = { ...this.data, selected, theme: this.theme.name, plan: this.plan };
  }

  /** Tab reaches the grid once, at this cell; a filter may have taken it away. */
  stop(cell) {
    const [first] = this.nodes.values();
    for (const node of this.nodes.values()) node.tabIndex = node === (cell ?? first) ? 0 : -1;
  }

  pick({ cell }) {
    if (!cell) return;
    const head = [cell.part.kind, cell.layer, cell.head];
    this.select(head); // at once: the answer from Python would be a moment late
    this.live.textContent = `${labelOf(cell)} is open`;
    this.options.onSelect?.(head);
  }

  onKey(event) {
    const { cell } = event.target;
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = this.plan.groups.flatMap(({ rows }) => rows).find((one) => one.includes(cell));
    if (event.key === "Enter" || event.key === " ") this.pick(event.target);
    else if (event.key === "Home") this.focus(row[0]);
    else if (event.key === "End") this.focus(row.at(-1));
    else if (event.key in ARROWS) this.focus(nearest(this.plan.cells, cell, ARROWS[event.key]));
    else return;
    event.preventDefault();
  }

  focus(cell) {
    if (cell) this.nodes.get(cell.id).focus();
  }

  point(node) {
    this.pointed = node;
    this.tip.hidden = !node?.cell;
    if (this.tip.hidden) return;
    const { x, y, wide, high, value } = node.cell;
    this.tip.replaceChildren(titleOf(node.cell), ...(value ? [make("strong", {}, value)] : []));
    placeTip(this.tip, this.box, { left: x, top: y, right: x + wide, bottom: y + high });
  }
}

const ARROWS = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

/**
 * The next map in a direction, over the gap between two blocks too: straight on before askew, and to
 * the left and right only what stands in the same row.
 */
function nearest(cells, from, [right, down]) {
  let [best, least] = [null, Infinity];
  for (const cell of cells) {
    const [dx, dy] = [cell.x - from.x, cell.y - from.y];
    if (right && Math.abs(dy) >= from.high) continue;
    const ahead = dx * right + dy * down;
    const far = ahead + 2 * Math.abs(dx * down + dy * right);
    if (ahead > 0 && far < least) [best, least] = [cell, far];
  }
  return best;
}

function button(name, act) {
  const node = make("button", { type: "button", "aria-label": `Save as ${name}` }, name);
  node.addEventListener("click", act);
  return node;
}
