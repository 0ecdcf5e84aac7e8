// Every head at a glance: small maps, by kind and layer or in an order of their own. One canvas is
// the picture; over each map lies an empty grid cell, which has the focus, the name, the outline.

import { paint, sized } from "../core/canvas.ts";
import { blank, hidden, setPixel } from "../core/color.ts";
import { ARROWS, framed, isShortcut, make, nearest, placeTip } from "../core/dom.ts";
import { SHARP } from "../core/save.ts";
import { circle, type Mark, path, picture, type Place, rect, text } from "../core/scene.ts";
import { getValue, subscribe } from "../core/store.ts";
import { type Later, View } from "../core/view.ts";
import {
  describe, type GridData, gridLabel, type GridPlan, type Head, ident, labelOf, notesOn,
  type Placed, planGrid, switched, titleOf, weightsOf, wordedPart, type Words,
} from "./plan.ts";
import type { Theme } from "../core/theme.ts";

const VEIL = 0.55; // of the paper, over a map that is crossed out

/** @param ratio pixels for one unit of the plan
 * @param crossed `ident`s of the heads that are switched off */
export const gridMarks = (
  plan: GridPlan, theme: Theme, ratio: number, crossed: ReadonlySet<string>,
): Mark[] => [
  ...plan.cells.map((cell) => tileMark(cell, theme, ratio)), ...marksAround(plan, theme, crossed),
];

const tileMark = (cell: Placed, theme: Theme, ratio: number, room?: ArrayBuffer) => picture({
  x: cell.x, y: cell.y, width: cell.width, height: cell.height, exact: true, title: labelOf(cell),
  raster: tileOf(cell, theme.name, ratio, room),
});

const marksAround = (plan: GridPlan, theme: Theme, crossed: ReadonlySet<string>): Mark[] => [
  ...plan.cells.filter(({ id }) => crossed.has(id)).flatMap((cell) => crossMarks(cell, theme)),
  ...plan.dots.map(({ x, y, radius, color }) => circle({ x, y, radius, fill: color })),
  ...wordMarks(plan.texts, theme),
];

/** Draw a veil of paper and two lines from corner to corner, which lie clear of the dark cells. */
function crossMarks({ x, y, width, height }: Place, theme: Theme): Mark[] {
  const [right, low] = [x + width, y + height];
  const d = `M${x} ${y}L${right} ${low}M${right} ${y}L${x} ${low}`;
  return [
    rect({ x, y, width, height, fill: theme.paper, opacity: VEIL }),
    path({ d, stroke: theme.paper, line: 4 }),
    path({ d, stroke: theme.ink, line: 2 }),
    rect({ x: x + 0.5, y: y + 0.5, width: width - 1, height: height - 1, stroke: theme.quiet }),
  ];
}

const wordMarks = (texts: Words[], theme: Theme): Mark[] =>
  texts.map(({ bold, quiet, ...words }) => text({
    ...words, weight: bold ? 600 : 400,
    fill: quiet ? theme.quiet : theme.ink,
  }));

export const isFolded = ({ cells }: GridPlan, ratio: number) => cells.some((cell) =>
  cell.part.columns > pixelsOf(cell.width, ratio) || cell.part.rows > pixelsOf(cell.height, ratio));

const pixelsOf = (side: number, ratio: number) => Math.max(1, Math.round(side * ratio));

/** Every weight falls on one pixel, or covers several; where some share one, the largest counts: an
 * average would hide the single bright square that makes a head worth opening. */
export function tileOf(
  cell: Placed, theme: "light" | "dark", ratio: number, room?: ArrayBuffer,
) {
  const { part } = cell;
  const raster = blank(pixelsOf(cell.width, ratio), pixelsOf(cell.height, ratio), room);
  const [weights, colors] = [weightsOf(cell), part.palette[theme]];
  const [xs, ys] = [spans(raster.width, part.columns), spans(raster.height, part.rows)];
  for (let y = 0, at = 0; y < raster.height; y++) {
    for (let x = 0; x < raster.width; x++, at += 4) {
      let most = 0;
      for (let row = ys[y][0]; row < ys[y][1]; row++) {
        for (let column = xs[x][0]; column < xs[x][1]; column++) {
          most = Math.max(most, weights[row * part.columns + column]);
        }
      }
      if (hidden(part.causal, ys[y][1] - 1, xs[x][0], most)) continue;
      setPixel(raster.pixels, at, colors, most);
    }
  }
  return raster;
}

function spans(pixels: number, count: number) {
  return Array.from({ length: pixels }, (_, n) => {
    const first = Math.floor((n * count) / pixels);
    return [first, Math.max(first + 1, Math.floor(((n + 1) * count) / pixels))];
  });
}

const STROKE = 2.5; // as style.css draws it around the selected map

export class HeadGrid extends View<GridData> {
  static read(message: any): GridData {
    return { ...message, parts: message.parts.map(wordedPart) };
  }

  canvas = make("canvas", { "aria-hidden": "true" });
  grid = make("div", { class: "hl-grid", role: "grid" });
  tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
  scroll = make("div", { class: "hl-grid-scroll" }, this.canvas, this.grid);
  box = framed(this.scroll, this.tip);
  note = make("span", { role: "status" });
  foot = make("div", { class: "hl-foot" }, this.note, this.saveButtons());
  nodes = new Map<string, HTMLElement>(); // grid cells by the head's `ident`
  cells = new Map<EventTarget, Placed>(); // by their grid cells
  pointed: HTMLElement | null = null;
  selected: Head | null = null;
  crossed: ReadonlySet<string> = new Set(); // `ident`s of the heads that are switched off
  clicked = 0; // number of the last click, until Python has answered it
  notes: string[] = [];
  room = new ArrayBuffer(2 ** 17); // of one small map's pixels: each of its own would be garbage
  declare plan: GridPlan;
  key = "";
  unsubscribe = () => {};

  constructor() {
    super();
    this.box.classList.add("hl-grid-box");
    this.root.append(this.box, this.foot, this.live);
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
    // Python may answer a click before the last one: what was clicked since then stays crossed
    if (this.clicked <= (this.data.answered ?? 0)) this.clicked = 0;
    if (!this.clicked) this.cross((this.data.crossed ?? []).map(ident));
  }

  cross(ids: string[]) {
    const names = new Map([...this.cells.values()].map((cell) => [cell.id, labelOf(cell)]));
    const before = this.crossed;
    this.crossed = new Set(ids);
    const message = switched(before, this.crossed, (id) => names.get(id) ?? id);
    if (message && names.size) this.live.textContent = message;
  }

  arrange(width: number) {
    this.plan = planGrid(this.data, width, this.measure);
    this.scroll.classList.toggle("hl-wide", this.plan.width > width);
    this.place();
    this.select(this.selected);
  }

  /** @param later draws one kind of attention after another, and shows them when all are drawn */
  draw(later?: Later) {
    const { plan, plan: { cells, width, height }, theme, crossed, room } = this;
    const canvas = later ? make("canvas") : this.canvas;
    const context = sized(canvas, width, height);
    const ratio = canvas.width / width;
    const inTask: Later = later ?? ((act) => act());
    for (const part of new Set(cells.map((cell) => cell.part))) {
      inTask(() => cells.filter((cell) => cell.part === part).forEach((cell) =>
        paint(context, [tileMark(cell, theme, ratio, room)], theme.font)));
    }
    inTask(() => paint(context, marksAround(plan, theme, crossed), theme.font));
    later?.(() => {
      sized(this.canvas, width, height).drawImage(canvas, 0, 0, width, height);
      canvas.width = 0; // gives its pixels back at once
    });
    this.notes = notesOn(this.data, isFolded(this.plan, ratio));
    const note = this.notes.join(" ");
    if (note !== this.note.textContent) this.note.textContent = note; // it is read out on change
    this.point(this.grid.contains(this.pointed) ? this.pointed : null);
  }

  sheet() {
    const { data: { nameEnd }, plan, theme, notes } = this;
    const kinds = new Set(plan.cells.map(({ part }) => part.name));
    const outlines = plan.cells.filter(({ id }) => id === ident(this.selected)).map((cell) => rect({
      x: cell.x - 2.25, y: cell.y - 2.25, width: cell.width + 4.5, height: cell.height + 4.5,
      stroke: theme.ink, line: STROKE,
    }));
    const unit = plan.cells[0]?.part.together ? "Layers" : "Heads";
    return {
      title: [unit, [...kinds].join(", "), nameEnd].filter(Boolean).join(" · "),
      width: plan.width, height: plan.height, legend: notes,
      marks: [...gridMarks(plan, theme, SHARP, this.crossed), ...outlines],
    };
  }

  /** Place a grid cell over each map; those that stay are the same elements as before. */
  place() {
    const { cells, groups } = this.plan;
    this.grid.style.height = `${this.plan.height}px`;
    const order = groups.map(({ rows }) => rows.map((row) => row.map(({ id }) => id)));
    if (this.setTexts(order)) this.build(groups);
    this.grid.setAttribute("aria-label",
      gridLabel(this.data.parts, cells.length, groups.map(({ name }) => name)));
    this.cells.clear();
    for (const cell of cells) {
      const node = this.nodes.get(cell.id) as HTMLElement;
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
      (node as HTMLElement).setAttribute("aria-label", labelOf(cell) + off);
    }
  }

  build(groups: GridPlan["groups"]) {
    const focused = this.focused();
    const before = this.nodes;
    const nodeFor = ({ id }: Placed) => {
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

  focused() {
    const root = this.grid.getRootNode() as Document | ShadowRoot;
    const node = (root.activeElement ?? null) as HTMLElement | null;
    return this.grid.contains(node) ? node : null;
  }

  select(head: Head | null) {
    this.selected = head;
    for (const [id, node] of this.nodes) {
      node.setAttribute("aria-selected", String(id === ident(head)));
    }
    this.setTabStop(this.focused() ?? this.nodes.get(ident(head)));
  }

  /** Let Tab reach the grid once, at this cell; a filter may have taken it away. */
  setTabStop(cell?: HTMLElement | null) {
    const [first] = this.nodes.values();
    for (const node of this.nodes.values()) node.tabIndex = node === (cell ?? first) ? 0 : -1;
  }

  cellAt({ target }: Event) {
    return (target && this.cells.get(target)) || null;
  }

  open(head: Head) {
    this.pick([...this.cells.values()].find(({ id }) => id === ident(head)) ?? null);
  }

  pick(cell: Placed | null) {
    if (!cell) return;
    const head: Head = [cell.part.kind, cell.layer, cell.head];
    // at once: the answer from Python would be a moment late
    if (this.data.switches) {
      const others = [...this.crossed].filter((id) => id !== cell.id);
      this.cross(this.crossed.has(cell.id) ? others : [...others, cell.id]);
      this.clicked = Math.max(Date.now(), this.clicked + 1);
      this.draw();
      this.nameCells();
      this.options.onSelect?.([...head, this.clicked]);
    } else {
      this.select(head);
      this.live.textContent = `${labelOf(cell)} is open`;
      this.options.onSelect?.(head);
    }
  }

  onKey(event: KeyboardEvent) {
    const cell = this.cellAt(event);
    if (!cell || isShortcut(event)) return;
    const rows = this.plan.groups.flatMap((block) => block.rows);
    const row = rows.find((cells) => cells.includes(cell)) ?? [];
    if (event.key === "Enter" || event.key === " ") this.pick(cell);
    else if (event.key === "Home") this.focus(row[0]);
    else if (event.key === "End") this.focus(row.at(-1));
    else if (event.key in ARROWS) this.focus(nextCell(this.plan.cells, cell, event.key));
    else return;
    event.preventDefault();
  }

  focus(cell?: Placed | null) {
    if (cell) this.nodes.get(cell.id)?.focus();
  }

  point(node: HTMLElement | null) {
    this.pointed = node;
    const cell = node && this.cells.get(node);
    this.tip.hidden = !cell;
    if (!cell) return;
    const { y, width, height, value } = cell;
    const x = cell.x - this.scroll.scrollLeft;
    const off = this.crossed.has(cell.id) ? " · switched off" : "";
    const [sentence] = this.data.caption ?? []; // of the picture it was made from
    this.tip.replaceChildren(titleOf(cell) + off, ...(value ? [make("strong", {}, value)] : []),
      ...(sentence ? [make("div", {}, sentence)] : []));
    const box = { left: x, top: y, right: x + width, bottom: y + height };
    placeTip(this.tip, this.box, box, 2); // between two rows of maps
  }
}

const nodeOf = ({ target }: Event) => target as HTMLElement;

/** Find the next map in a direction, over the gap between two blocks too; to the left and right
 * only what stands in the same row. */
export function nextCell<T extends Place>(cells: T[], from: T, key: string) {
  const [right, down] = ARROWS[key];
  const near = cells.filter(({ y }) => !right || Math.abs(y - from.y) < from.height);
  return nearest(near, from, [right, down], 0);
}
