// The masks of a batch: one grid for each sentence, side by side where there is room. Pointer and
// keys are answered here; the host hears only which row is chosen.

import { paint, sized } from "../core/canvas.js";
import { isShortcut, make, tableOf } from "../core/dom.js";
import { framed, placeTip, reveal } from "../core/frame.js";
import { group, text } from "../core/scene.js";
import { heightInSight } from "../core/picture_view.js";
import { quote, within } from "../core/text.js";
import { View } from "../core/view.js";
import { rowOf } from "./data.js";
import { gridMarks, maskMarks, squareMarks } from "./marks.js";
import { extent, hitMask, moved, planMasks } from "./plan.js";

/** @import { Group } from "../core/scene.js" */
/** @import { MaskGrid, MasksData } from "./data.js" */
/** @import { MasksPlan, Square } from "./plan.js" */
/** @typedef {{panel: number} & Square} MaskAt a square of one sentence's grid */

/**
 * @typedef {object} Panel the place of one sentence's grid
 * @property {HTMLElement} root
 * @property {HTMLElement} title
 * @property {HTMLCanvasElement} canvas
 * @property {HTMLElement} scroll
 * @property {HTMLTableElement} table
 * @property {Group} [squares]
 */

const HELP = "Arrow keys move over the squares, Enter chooses a row.";
const SIDE = 18; // of a square in the legend
const SHEET = { widest: 1400, apart: 32, title: 28 }; // of what is saved
const ADDED = ["True, so 0 is added", "False, so −∞ is added"];

/** @extends {View<MasksData>} */
export class MaskGrids extends View {
  constructor() {
    super();
    this.tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
    this.room = make("div", { class: "hl-masks" });
    this.frame = make("div", { class: "hl-frame" }, this.room, this.tip);
    this.legend = make("div", { class: "hl-legends" });
    this.foot = make("div", { class: "hl-foot" }, this.legend, this.saveButtons());
    this.root.append(this.frame, this.foot, this.live);
    /** @type {Panel[]} */
    this.panels = [];
    this.words = "";
    /** @type {MaskAt | null} */
    this.at = null; // under the pointer or the cursor
    /** @type {MasksPlan} */
    this.plan;
  }

  update() {
    const { data: { grids, title }, panels } = this;
    const words = JSON.stringify(grids.map(({ queries, keys }) => [queries, keys]));
    if (words !== this.words) this.at = null; // other sentences, other squares
    this.words = words;
    this.root.setAttribute("aria-label", title);
    while (panels.length > grids.length) panels.pop()?.root.remove();
    while (panels.length < grids.length) panels.push(this.panel(panels.length));
    grids.forEach((grid, n) => this.describe(panels[n], grid));
  }

  /** @param {number} n @returns {Panel} */
  panel(n) {
    const title = make("h3", { class: "hl-title" });
    const canvas = make("canvas", { "aria-hidden": "true" });
    const scroll = make("div", {
      class: "hl-scroll", tabindex: "0", role: "application",
    }, canvas);
    const table = make("table");
    const root = make("div", { class: "hl-mask" }, title, framed(scroll),
      make("div", { class: "hl-unseen" }, table));
    scroll.addEventListener("pointermove", (event) => this.point(this.under(n, event)));
    scroll.addEventListener("pointerleave", () => this.point(null));
    scroll.addEventListener("blur", () => this.point(null));
    scroll.addEventListener("keydown", (event) => this.onKey(n, event));
    scroll.addEventListener("click", (event) => {
      const at = this.under(n, event);
      this.point(at);
      if (at) this.options.onSelect?.([n, at.row]);
    });
    this.room.append(root);
    return { root, title, canvas, scroll, table };
  }

  /**
   * Describe a grid without drawing: its title, and how much of the batch each row sees.
   * @param {Panel} panel
   * @param {MaskGrid} grid
   */
  describe({ title, scroll, table }, grid) {
    const name = `${this.data.title}, ${grid.title}`;
    title.textContent = grid.title;
    scroll.setAttribute("aria-label", `${name}. ${HELP}`);
    table.replaceChildren(...tableOf(name, ["token", "tokens that it may see"],
      grid.queries.map((token, row) => {
        const seen = rowOf(grid, row).filter((code) => code === 0).length;
        return [token, `${seen} of ${grid.keys.length}`];
      })));
  }

  /** @param {number} width */
  arrange(width) {
    const { data, panels } = this;
    this.plan = planMasks(data.grids, width, heightInSight(), this.measure);
    data.grids.forEach((grid, n) => {
      panels[n].squares = gridMarks(grid, this.plan, this.look());
    });
    this.legend.replaceChildren(...data.legend.map(([code, words]) => {
      const canvas = make("canvas", { "aria-hidden": "true" });
      paint(sized(canvas, SIDE, SIDE), this.sample(code), this.theme.font);
      return make("span", { class: "hl-legend" }, canvas, make("span", {}, words));
    }));
  }

  look() {
    const { data: { color, asNumbers }, theme } = this;
    return { color, asNumbers, theme };
  }

  /** Draw a square of the legend. @param {number} code */
  sample(code) {
    return squareMarks(code, this.look(), { x: 0, y: 0, side: SIDE });
  }

  draw() {
    this.panels.forEach((_, n) => this.drawPanel(n));
    this.showTip();
  }

  /** @param {number} n */
  drawPanel(n) {
    const context = sized(this.panels[n].canvas, ...extent(this.plan, this.data.grids[n]));
    paint(context, this.marks(n, this.at), this.theme.font);
  }

  /**
   * Draw the grid of one sentence.
   * @param {number} n
   * @param {MaskAt | null} at
   */
  marks(n, at) {
    const { data, plan, theme, measure } = this;
    const [sentence, row] = data.chosen;
    return maskMarks({
      grid: data.grids[n], plan, theme, measure,
      squares: /** @type {Group} */ (this.panels[n].squares),
      chosen: sentence === n ? row : null, at: at?.panel === n ? at : null,
    });
  }

  /** Save the grids side by side, as many as a page takes. */
  sheet() {
    const { data: { grids, title, legend }, plan, theme } = this;
    const [width, height] = extent(plan, grids[0]); // a batch is padded: all are alike
    const [across, down] = [width + SHEET.apart, height + SHEET.title + SHEET.apart];
    const columns = within(Math.floor(SHEET.widest / across), 1, grids.length);
    return {
      name: title, title, theme, lines: [], note: "",
      width: columns * across - SHEET.apart,
      height: Math.ceil(grids.length / columns) * down - SHEET.apart,
      legend: legend.flatMap(([code, words]) =>
        [{ width: SIDE, marks: this.sample(code) }, words]),
      marks: grids.map((grid, n) => group([
        text({ text: grid.title, x: 0, y: 14, size: 14, weight: 600, fill: theme.ink }),
        group(this.marks(n, null), { y: SHEET.title }),
      ], { x: (n % columns) * across, y: Math.floor(n / columns) * down })),
    };
  }

  /**
   * @param {number} panel
   * @param {MouseEvent} event
   * @returns {MaskAt | null}
   */
  under(panel, { clientX, clientY }) {
    if (!this.plan) return null;
    const box = this.panels[panel].canvas.getBoundingClientRect();
    const grid = this.data.grids[panel];
    const square = hitMask(this.plan, grid, clientX - box.left, clientY - box.top);
    return square && { panel, ...square };
  }

  /** @param {MaskAt | null} at */
  point(at) {
    if (JSON.stringify(at) === JSON.stringify(this.at)) return;
    const changed = new Set([this.at?.panel, at?.panel]);
    this.at = at;
    for (const panel of changed) if (panel != null) this.drawPanel(panel);
    this.showTip();
  }

  /**
   * @param {number} panel
   * @param {KeyboardEvent} event
   */
  onKey(panel, event) {
    if (isShortcut(event)) return;
    const grid = this.data.grids[panel];
    const from = this.at?.panel === panel ? this.at : { row: 0, key: -1 };
    const to = moved(grid, from, event.key);
    if (to) {
      const { square, left, top } = this.plan;
      const [x, y] = [left + to.key * square, top + to.row * square];
      reveal(this.panels[panel].scroll, { left: x, top: y, right: x + square, bottom: y + square });
      this.point({ panel, ...to });
      this.live.textContent = this.sentences({ panel, ...to }).join(" ");
    } else if (event.key === "Enter" || event.key === " ") {
      this.options.onSelect?.([panel, from.row]);
      this.live.textContent = `row ${quote(grid.queries[from.row])} chosen`;
    } else return;
    event.preventDefault();
  }

  /** Describe a square. @param {MaskAt} at */
  sentences({ panel, row, key }) {
    const { grids, reasons } = this.data;
    const { names, keys } = grids[panel];
    const code = rowOf(grids[panel], row)[key];
    const [query, other] = [names[row], quote(keys[key])];
    return [
      code ? `${query} may not see ${other}: ${reasons[code]}.` : `${query} may see ${other}.`,
      ADDED[code ? 1 : 0],
    ];
  }

  showTip() {
    this.tip.hidden = !this.at;
    if (!this.at) return;
    const { panel, row, key } = this.at;
    const [seen, added] = this.sentences(this.at);
    this.tip.replaceChildren(seen, make("div", {}, added));
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
