// All heads and the one that is open, together: what a notebook and a saved page show. Every weight
// is here from the start, so opening a head asks nobody.

import { AttentionMap } from "../attention_map/view.js";
import { make } from "../core/dom.js";
import { mount, View } from "../core/view.js";
import { HeadGrid } from "../head_grid/view.js";
import { HeadView } from "../head_view/view.js";

/** @typedef {import("../head_grid/data.js").Head} Head */

/** @extends {View<import("./data.js").ExplorerData>} */
export class Explorer extends View {
  constructor() {
    super();
    this.root.className = "hl-explorer";
    this.grid = make("section", { class: "hl-explorer-grid", "aria-label": "All heads" });
    this.map = make("div");
    this.view = make("div");
    this.open = make("section", { class: "hl-explorer-open", "aria-label": "The open head" },
      this.map, this.view);
    this.root.append(this.grid, this.open);
    /** @type {Head} */
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
    const data = { ...this.data.grid, selected: this.selected };
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
    const [kind, layer, head] = this.selected;
    const { heads, map, view, weights } = this.data.kinds[kind];
    const count = map.queries.length * map.keys.length;
    const number = layer * heads + head;
    const own = weights.subarray(number * count, (number + 1) * count);
    const name = `L${layer + 1} H${head + 1}`;
    const { theme } = this.options;
    const title = `${name} · ${map.title}`;
    return [
      mount(this.map, AttentionMap, { ...map, title, weights: own }, { theme }),
      mount(this.view, HeadView, { ...view, heads: [name], weights: own }, { theme }),
    ];
  }

  remove() {
    this.dark.removeEventListener("change", this.repaint);
    for (const view of this.views) view.remove();
    super.remove();
  }
}
