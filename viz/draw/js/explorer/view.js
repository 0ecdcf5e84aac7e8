// All heads and the one that is open, together: what a notebook and a saved page show. Every weight
// is here from the start, so opening a head asks nobody.

import { AttentionMap } from "../attention_map/view.js";
import { make } from "../core/dom.js";
import { mount, View } from "../core/view.js";
import { HeadGrid } from "../head_grid/view.js";
import { HeadView } from "../head_view/view.js";
import { weightsOf } from "./data.js";

/** @typedef {import("../head_grid/data.js").Head} Head */
/** @typedef {import("./data.js").Opened} Opened */

/** @extends {View<import("./data.js").ExplorerData>} */
export class Explorer extends View {
  constructor() {
    super();
    this.root.className = "hl-explorer";
    this.grid = make("section", { class: "hl-explorer-grid", "aria-label": "All heads" });
    this.map = make("div");
    this.view = make("div");
    this.compared = make("div", { class: "hl-explorer-compared" });
    this.open = make("section", { class: "hl-explorer-open", "aria-label": "The open head" },
      this.map, this.compared, this.view);
    this.root.append(this.grid, this.open);
    /** @type {Opened} */
    this.selected;
    /** @type {View<any>[]} */
    this.views = [];
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.repaint = () => this.drawAll(); // a page may follow the system's theme
    this.dark.addEventListener("change", this.repaint);
  }

  update() {
    this.selected = this.data.selected;
    this.drawAll();
  }

  /** Its parts lay themselves out. */
  layOut() {}

  drawAll() {
    const { theme } = this.options;
    /** @type {import("../head_grid/data.js").GridData} */
    const data = { ...this.data.grid, selected: this.outlined() };
    const grid = mount(this.grid, HeadGrid, data,
      { theme, onSelect: (head) => this.select(head) });
    this.views = [grid, ...this.drawHead()];
  }

  /** @param {Head} head */
  select(head) {
    this.selected = head;
    this.drawHead();
    this.options.onSelect?.(head);
  }

  drawHead() {
    const { data: { kinds, selected, title, over }, options: { theme } } = this;
    const [kind, layer, head] = this.selected;
    const ofKind = kinds[kind];
    const name = layer == null || head == null ? title : this.nameOf(layer, head);
    const own = weightsOf(ofKind, layer, head);
    const others = (kind === selected[0] ? over : [])
      .filter(([otherLayer, otherHead]) => otherLayer !== layer || otherHead !== head);
    const stacked = [own, ...others.map((one) => weightsOf(ofKind, ...one))];
    const view = {
      ...ofKind.view, heads: [name, ...others.map((one) => this.nameOf(...one))],
      weights: joined(stacked),
    };
    const mapTitle = name === title ? title : `${name} · ${ofKind.map.title}`;
    return [
      mount(this.map, AttentionMap, { ...ofKind.map, title: mapTitle, weights: own }, { theme }),
      ...this.drawCompared(),
      mount(this.view, HeadView, view, { theme }),
    ];
  }

  /** @param {number} layer @param {number} head */
  nameOf(layer, head) {
    const { together } = this.data;
    return together ? `layer ${layer + 1} · ${together}` : `L${layer + 1} H${head + 1}`;
  }

  /** What the grid outlines: a mean is no head. @returns {Head | null} */
  outlined() {
    const [kind, layer, head] = this.selected;
    const map = this.data.together ? 0 : head;
    return layer == null || map == null ? null : [kind, layer, map];
  }

  /** The second map and the difference: they belong to the map that was open first. */
  drawCompared() {
    const { data: { compared, selected }, options: { theme } } = this;
    const drawn = String(this.selected) === String(selected) ? compared : [];
    while (this.compared.children.length > drawn.length) this.compared.lastElementChild?.remove();
    while (this.compared.children.length < drawn.length) this.compared.append(make("div"));
    return drawn.map((map, n) => mount(this.compared.children[n], AttentionMap, map, { theme }));
  }

  remove() {
    this.dark.removeEventListener("change", this.repaint);
    for (const view of this.views) view.remove();
    super.remove();
  }
}

/** @param {Float32Array[]} parts of one length @returns {Float32Array} */
function joined(parts) {
  const all = new Float32Array(parts.length * parts[0].length);
  parts.forEach((part, n) => all.set(part, n * part.length));
  return all;
}
