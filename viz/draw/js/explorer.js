// All heads and the one that is open, together: what a notebook and a saved page show. Every weight
// is here from the start, so opening a head asks nobody.

import { make, mounted, unpack } from "./shared.js";
import { unpackGrid } from "./grid_data.js";
import { render as drawGrid } from "./head_grid.js";
import { render as drawMap } from "./attention_map.js";
import { render as drawView } from "./head_view.js";

const views = new WeakMap();

/**
 * Read what `explorer_packet` in report.py wrote.
 * @param {string} text gzip in base64
 * @returns {Promise<object>} `grid`, and by kind a `map` and a `view` as their renderers take them
 *   with the exact `weights` of all its heads
 */
export async function unpackExplorer(text) {
  const packed = Uint8Array.from(atob(text.trim()), (one) => one.charCodeAt(0));
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(plain).arrayBuffer());
  let at = 0;
  const next = () => {
    const length = new DataView(bytes.buffer).getUint32(at, true);
    at += 4 + length;
    return bytes.slice(at - length, at);
  };
  const grid = unpackGrid(next());
  const kinds = new Map(grid.parts.map(({ kind, heads }) =>
    [kind, {
      heads, map: unpack(next()), view: unpack(next()), weights: new Float32Array(next().buffer),
    }]));
  return { grid, kinds };
}

/**
 * @param {Element|ShadowRoot} element is filled; call again to show other data in the same place
 * @param {object} data what `unpackExplorer` gives
 * @param {{onSelect?: (head: [string, number, number]) => void, theme?: "light"|"dark"}} options
 * @returns {() => void} takes it away again
 */
export function render(element, data, options = {}) {
  const view = mounted(element, views, () => new Explorer());
  view.show(data, options);
  return () => {
    views.delete(element);
    view.remove();
  };
}

class Explorer {
  constructor() {
    this.grid = make("section", { class: "hl-explorer-grid", "aria-label": "All heads" });
    this.map = make("div");
    this.view = make("div");
    this.open = make("section", { class: "hl-explorer-open", "aria-label": "The open head" },
      this.map, this.view);
    this.root = make("div", { class: "hl-explorer" }, this.grid, this.open);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.repaint = () => this.draw(); // a page may follow the system's theme
    this.dark.addEventListener("change", this.repaint);
  }

  show(data, options) {
    this.data = data;
    this.options = options;
    this.selected = data.grid.selected;
    this.draw();
  }

  draw() {
    const { theme } = this.options;
    this.forget = [
      drawGrid(this.grid, { ...this.data.grid, selected: this.selected }, {
        theme, onSelect: (head) => this.select(head),
      }),
      ...this.drawHead(),
    ];
  }

  select(head) {
    this.selected = head;
    this.drawHead();
    this.options.onSelect?.(head);
  }

  drawHead() {
    const [kind, layer, head] = this.selected;
    const { heads, map, view, weights } = this.data.kinds.get(kind);
    const count = map.queries.length * map.keys.length;
    const number = layer * heads + head;
    const own = weights.subarray(number * count, (number + 1) * count);
    const name = `L${layer + 1} H${head + 1}`;
    const { theme } = this.options;
    const title = `${name} · ${map.title}`;
    return [
      drawMap(this.map, { ...map, title, weights: own }, { theme }),
      drawView(this.view, { ...view, heads: [name], weights: own }, { theme }),
    ];
  }

  remove() {
    this.dark.removeEventListener("change", this.repaint);
    for (const forget of this.forget) forget();
    this.root.remove();
  }
}
