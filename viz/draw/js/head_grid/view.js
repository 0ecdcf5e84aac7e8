// Every head at a glance: small maps, by kind and layer or in an order of their own. One canvas is
// the picture; over each map lies an empty grid cell, which has the focus, the name, the outline.

import { paint, sized } from "../core/canvas.js";
import { ARROWS, isShortcut, make } from "../core/dom.js";
import { framed, placeTip } from "../core/frame.js";
import { getValue, subscribe } from "../core/store.js";
import { View } from "../core/view.js";
import { describe, gridLabel, ident, labelOf, notesOn, switched, titleOf } from "./data.js";
import { gridDrawing, gridMarks, isFolded } from "./marks.js";
import { planGrid } from "./plan.js";

/** @import { GridData, Head } from "./data.js" */
/** @import { GridPlan, Place, Placed } from "./plan.js" */

/** @extends {View<GridData>} */
export class HeadGrid extends View {
  constructor() {
    super();
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.grid = make("div", { class: "hl-grid", role: "grid" });
    this.tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
    this.scroll = make("div", { class: "hl-grid-scroll" }, this.canvas, this.grid);
    this.box = framed(this.scroll, this.tip);
    this.box.classList.add("hl-grid-box");
    this.note = make("span", { role: "status" });
    this.foot = make("div", { class: "hl-foot" }, this.note, this.saveButtons());
    this.root.append(this.box, this.foot, this.live);
    /** @type {Map<string, HTMLElement>} */
    this.nodes = new Map(); // grid cells by the head's `ident`
    /** @type {Map<EventTarget, Placed>} */
    this.cells = new Map(); // by their grid cells
    this.order = ""; // of the cells in the document
    /** @type {HTMLElement | null} */
    this.pointed = null;
    /** @type {Head | null} */
    this.selected = null;
    /** @type {ReadonlySet<string>} */
    this.crossed = new Set(); // `ident`s of the heads that are switched off
    /** @type {string[]} */
    this.unanswered = []; // what is crossed after each click, until Python has answered it
    /** @type {string[]} */
    this.notes = [];
    /** @type {GridPlan} */
    this.plan;
    this.key = "";
    this.unsubscribe = () => {};
    this.listen();
  }

  listen() {
    const { grid } = this;
    this.scroll.addEventListener("scroll", () => this.point(this.pointed));
    grid.addEventListener("click", (event) => this.pick(this.cellAt(event)));
    grid.addEventListener("keydown", (event) => this.onKey(event));
    grid.addEventListener("pointerover", (event) => this.point(nodeOf(event)));
    grid.addEventListener("pointerleave", () => this.point(null));
    grid.addEventListener("focusin", (event) => {
      this.setTabStop(nodeOf(event)); // Shift and Tab leave the grid from where it has the focus
      this.point(nodeOf(event));
    });
    grid.addEventListener("focusout", () => {
      this.setTabStop(this.nodes.get(ident(this.selected)));
      this.point(null);
    });
  }

  remove() {
    this.unsubscribe();
    super.remove();
  }

  update() {
    const { key, selected } = this.data;
    if (key !== this.key) {
      this.unsubscribe();
      this.unsubscribe = subscribe(key, (head) => this.select(head));
      this.key = key;
    }
    this.selected = selected ?? getValue(key) ?? null;
    this.follow((this.data.crossed ?? []).map(ident));
  }

  /** Python may answer a click before the last one: what was clicked since then stays crossed.
   * @param {string[]} ids all heads that are switched off, as Python has it */
  follow(ids) {
    const answered = this.unanswered.indexOf(sorted(ids));
    this.unanswered = answered < 0 ? [] : this.unanswered.slice(answered + 1);
    if (!this.unanswered.length) this.cross(ids);
  }

  /** @param {string[]} ids all heads that are switched off now */
  cross(ids) {
    const names = new Map([...this.cells.values()].map((cell) => [cell.id, labelOf(cell)]));
    const before = this.crossed;
    this.crossed = new Set(ids);
    const message = switched(before, this.crossed, (id) => names.get(id) ?? id);
    if (message && names.size) this.live.textContent = message;
  }

  /** @param {number} width */
  arrange(width) {
    this.plan = planGrid(this.data, width, this.measure);
    this.scroll.classList.toggle("hl-wide", this.plan.width > width);
    this.place();
    this.select(this.selected);
  }

  draw() {
    const { width, height } = this.plan;
    const context = sized(this.canvas, width, height);
    const ratio = this.canvas.width / width;
    paint(context, gridMarks(this.plan, this.theme, ratio, this.crossed), this.theme.font);
    this.notes = notesOn(this.data, isFolded(this.plan, ratio));
    const note = this.notes.join(" ");
    if (note !== this.note.textContent) this.note.textContent = note; // it is read out on change
    this.point(this.grid.contains(this.pointed) ? this.pointed : null);
  }

  drawing() {
    return gridDrawing(
      this.plan, this.theme, this.selected, this.notes, this.measure, this.crossed);
  }

  /** Place a grid cell over each map; those that stay are the same elements as before. */
  place() {
    const { cells, groups } = this.plan;
    this.grid.style.height = `${this.plan.height}px`;
    const order = JSON.stringify(groups.map(({ rows }) =>
      rows.map((row) => row.map(({ id }) => id))));
    if (order !== this.order) this.build(groups);
    this.order = order;
    this.grid.setAttribute("aria-label",
      gridLabel(this.data.parts, cells.length, groups.map(({ name }) => name)));
    this.cells.clear();
    for (const cell of cells) {
      const node = /** @type {HTMLElement} */ (this.nodes.get(cell.id));
      this.cells.set(node, cell);
      node.setAttribute("aria-description", describe(cell));
      const { x, y, width, height } = cell;
      Object.assign(node.style,
        { left: `${x}px`, top: `${y}px`, width: `${width}px`, height: `${height}px` });
    }
    this.nameCells();
  }

  nameCells() {
    for (const [node, cell] of this.cells) {
      const off = this.crossed.has(cell.id) ? ", switched off" : "";
      /** @type {HTMLElement} */ (node).setAttribute("aria-label", labelOf(cell) + off);
    }
  }

  /** @param {GridPlan["groups"]} groups */
  build(groups) {
    const focused = this.focused();
    const before = this.nodes;
    /** @param {Placed} cell */
    const nodeFor = ({ id }) => {
      const node = before.get(id) ?? make("div", { class: "hl-cell", role: "gridcell" });
      this.nodes.set(id, node);
      return node;
    };
    this.nodes = new Map();
    const rowgroups = groups.map(({ name, rows }) =>
      make("div", { role: "rowgroup", "aria-label": name },
        ...rows.map((row) => make("div", { role: "row" }, ...row.map(nodeFor)))));
    this.grid.replaceChildren(...rowgroups);
    if (focused && this.grid.contains(focused)) focused.focus({ preventScroll: true });
  }

  /** Get the grid cell with the focus, if a cell has it. */
  focused() {
    const root = /** @type {Document | ShadowRoot} */ (this.grid.getRootNode());
    const node = /** @type {HTMLElement | null} */ (root.activeElement ?? null);
    return this.grid.contains(node) ? node : null;
  }

  /** @param {Head | null} head */
  select(head) {
    this.selected = head;
    for (const [id, node] of this.nodes) {
      node.setAttribute("aria-selected", String(id === ident(head)));
    }
    this.setTabStop(this.focused() ?? this.nodes.get(ident(head)));
  }

  /** Let Tab reach the grid once, at this cell; a filter may have taken it away.
   * @param {HTMLElement | null} [cell] */
  setTabStop(cell) {
    const [first] = this.nodes.values();
    for (const node of this.nodes.values()) node.tabIndex = node === (cell ?? first) ? 0 : -1;
  }

  /** @param {Event} event */
  cellAt({ target }) {
    return (target && this.cells.get(target)) || null;
  }

  /** @param {Placed | null} cell */
  pick(cell) {
    if (!cell) return;
    /** @type {Head} */
    const head = [cell.part.kind, cell.layer, cell.head];
    // at once: the answer from Python would be a moment late
    if (this.data.switches) {
      const others = [...this.crossed].filter((id) => id !== cell.id);
      this.cross(this.crossed.has(cell.id) ? others : [...others, cell.id]);
      this.unanswered.push(sorted(this.crossed));
      this.draw();
      this.nameCells();
    } else {
      this.select(head);
      this.live.textContent = `${labelOf(cell)} is open`;
    }
    this.options.onSelect?.(head);
  }

  /** @param {KeyboardEvent} event */
  onKey(event) {
    const cell = this.cellAt(event);
    if (!cell || isShortcut(event)) return;
    const rows = this.plan.groups.flatMap((group) => group.rows);
    const row = rows.find((cells) => cells.includes(cell)) ?? [];
    if (event.key === "Enter" || event.key === " ") this.pick(cell);
    else if (event.key === "Home") this.focus(row[0]);
    else if (event.key === "End") this.focus(row.at(-1));
    else if (event.key in ARROWS) this.focus(nearest(this.plan.cells, cell, ARROWS[event.key]));
    else return;
    event.preventDefault();
  }

  /** @param {Placed | null} [cell] */
  focus(cell) {
    if (cell) this.nodes.get(cell.id)?.focus();
  }

  /** @param {HTMLElement | null} node */
  point(node) {
    this.pointed = node;
    const cell = node && this.cells.get(node);
    this.tip.hidden = !cell;
    if (!cell) return;
    const { y, width, height, value } = cell;
    const x = cell.x - this.scroll.scrollLeft;
    const off = this.crossed.has(cell.id) ? " · switched off" : "";
    this.tip.replaceChildren(titleOf(cell) + off, ...(value ? [make("strong", {}, value)] : []));
    placeTip(this.tip, this.box, { left: x, top: y, right: x + width, bottom: y + height });
  }
}

/** Write heads as one text, whatever their order. @param {Iterable<string>} ids */
const sorted = (ids) => [...ids].sort().join();

/** @param {Event} event */
const nodeOf = ({ target }) => /** @type {HTMLElement} */ (target);

/**
 * The next map in a direction, over the gap between two blocks too: straight on before askew, and
 * to the left and right only what stands in the same row.
 * @template {Place} T
 * @param {T[]} cells
 * @param {T} from
 * @param {[right: number, down: number]} direction
 * @returns {T | null}
 */
export function nearest(cells, from, [right, down]) {
  /** @type {T | null} */
  let best = null;
  let least = Infinity;
  for (const cell of cells) {
    const [dx, dy] = [cell.x - from.x, cell.y - from.y];
    if (right && Math.abs(dy) >= from.height) continue;
    const ahead = dx * right + dy * down;
    const far = ahead + 2 * Math.abs(dx * down + dy * right);
    if (ahead > 0 && far < least) [best, least] = [cell, far];
  }
  return best;
}
