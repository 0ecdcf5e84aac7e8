// All heads and the one that is open, together: what a notebook and a saved page show. Every weight
// is in the page, so opening a head asks nobody; those of a large trace are unpacked only then. A
// pair of texts, as an encoder such as BERT reads, has four parts: which text looks, and into
// which.

import { AttentionMap } from "./attention_map/view.ts";
import { button, choice, make } from "./core/dom.ts";
import { mount, View } from "./core/view.ts";
import { type GridData, type Head, range } from "./head_grid/plan.ts";
import { HeadGrid } from "./head_grid/view.ts";
import { HeadWeights, type TextOf } from "./head_weights.ts";
import { type RibbonData, Ribbons } from "./ribbons.ts";
import type { Row, Trace } from "./core/trace.ts";
import type { MapAxes, Worded } from "./core/labels.ts";
import type { Look, MapData } from "./attention_map/plan.ts";

/** A map: kind, layer and head from 0; null stands for the mean over layers or heads. */
export type Opened = [kind: string, layer: number | null, head: number | null];

interface KindData {
  map: MapData; // with all labels, but without weights, and so the ribbons
  ribbons: RibbonData;
  heads: number; // of a layer
  weights: Float32Array | null; // `[layer, head, query, key]`; null where each head is apart
}

/** What stands around every map of a kind, as `_message` of viz/draw/explorer.py has it. */
export type KindMessage = Pick<KindData, "heads" | "weights"> & {
  axes: MapAxes; ribbonAxes: MapAxes | null; title: string; note: string; caption: string[];
};

/** Read what Python or a trace says of a kind. @param steps to which weights are rounded */
export function readKind(
  { axes, ribbonAxes, note, heads, weights, ...shared }: KindMessage, look: Look, steps = "",
): KindData {
  const { threshold, amount } = look;
  return {
    heads, weights, map: AttentionMap.read({ ...shared, ...look, axes, note }),
    ribbons: Ribbons.read({ ...shared, axes: ribbonAxes ?? axes, threshold, amount, steps }),
  };
}

export interface ExplorerData { // the message of `_message` in viz/draw/explorer.py
  selected: Opened; // which is open first
  name: string; // of that map
  mean: Float32Array | null; // its weights, where it is a mean and no head
  together: string | null; // what stands in the place of a head, where a map is of a layer
  over: [layer: number, head: number][]; // whose ribbons lie over its own
  compared: MapData[]; // a second map, the difference
  grid: GridData;
  pairs: PairPart[]; // the parts of a pair of texts; none of one text
  kinds: Record<string, KindData>;
  weights: HeadWeights;
  painted?: Row[]; // of any head
}

export function headOf(name: string) {
  const [kind, ...numbers] = name.split(".");
  const [layer, head] = numbers.map(Number);
  return [kind, layer, head] as Head;
}

export const PAIR_KIND = "encoder_self"; // the one kind whose rows and columns are a pair

export interface PairPart { // as viz/draw/explorer.py writes it
  looking: "first" | "second";
  looked_at: "first" | "second";
  rows: [first: number, end: number];
  keys: [first: number, end: number];
  note: string; // instead of the map's own
  grid: GridData; // all heads small
}

export const nameOf = ({ looking, looked_at: lookedAt }: PairPart) => `${looking} → ${lookedAt}`;

export const labelsOf = <D extends Omit<Worded, "kind" | "causal" | "both">>(
  data: D, { rows, keys, looking, looked_at: lookedAt }: PairPart,
): D => ({
  ...data,
  queries: data.queries.slice(...rows),
  keys: data.keys.slice(...keys),
  rowNames: data.rowNames && data.rowNames.slice(...rows),
  rows: `${data.rows} (${looking} text)`,
  columns: `${data.columns} (${lookedAt} text)`,
});

/** Take the weights of this part, `[query, key]`. @param weights of the whole map */
export function weightsOf(
  weights: Float32Array, width: number, { rows: [first, end], keys: [left, right] }: PairPart,
) {
  const wide = right - left;
  const part = new Float32Array((end - first) * wide);
  for (let row = first; row < end; row++) {
    const from = row * width;
    part.set(weights.subarray(from + left, from + right), (row - first) * wide);
  }
  return part;
}

let controls = 0; // several explorers may share a page, and each has its own
const MOST_HEADS = 8; // that lie over each other: there are as many colours
const EASY = 2 ** 14; // weights of a head, up to which its ribbons are drawn at once

export class Explorer extends View<ExplorerData> {
  /** @param textOf where the weights are that the message has not
   * @param trace that the page carries, with those of its message if it has all of them */
  static read(
    { packing, look, steps, ...message }: any, textOf?: TextOf, trace?: Trace,
  ): ExplorerData {
    const kinds: Record<string, KindData> = {};
    for (const [name, data] of Object.entries<KindMessage>(message.kinds)) {
      const carried = trace?.kinds.find(({ kind, size }) => kind === name && !size);
      kinds[name] = readKind(data, look, steps);
      kinds[name].weights ??= carried?.weights ?? null;
    }
    const pairs = message.pairs.map((part: PairPart) =>
      ({ ...part, grid: HeadGrid.read(part.grid) }));
    return {
      ...message, pairs, kinds, grid: HeadGrid.read(message.grid),
      compared: message.compared.map(AttentionMap.read),
      weights: new HeadWeights(kinds, packing, textOf),
    };
  }

  grid = make("section", { class: "hl-explorer-grid", "aria-label": "All heads" });
  map = make("div");
  ribbonBox = make("div");
  compared = make("div", { class: "hl-explorer-compared" });
  problem = make("p", { class: "hl-explorer-problem", role: "alert", hidden: "" });
  open = make("section", { class: "hl-explorer-open", "aria-label": "The open head" },
    this.problem, this.map, this.compared, this.ribbonBox);
  label = make("span");
  choice = make("select"); // of a head whose ribbons are laid over
  listed = ""; // its heads
  isFull = false; // a button that disabled itself would drop the focus
  add = button("Add", () => {
    if (!this.isFull) this.lay([...this.others(), layerHeadOf(this.choice.value)]);
  });
  clear = button("Remove all", () => {
    this.lay([]);
    this.choice.focus(); // this button is hidden now
  });
  menu = make("div", { class: "hl hl-explorer-over" },
    make("label", {}, this.label, this.choice), this.add, this.clear);
  pairs?: HTMLElement; // the control
  pair: PairPart | null = null; // null is both texts
  over: Record<string, LayerHead[]> | null = null; // of each kind, over the open head's ribbons
  declare selected: Opened;
  overview?: HeadGrid;
  ribbons?: Ribbons;
  views: View<any>[] = []; // of the open head
  undrawn: RibbonData | null = null; // ribbons of the open head
  inSight = false; // the ribbons
  turn = 0; // which drawing of an open head it is: what was unpacked for one before is late
  watcher = new IntersectionObserver((entries) => {
    this.inSight = entries[entries.length - 1].isIntersecting;
    if (this.inSight) this.showRibbons();
  });
  dark = matchMedia("(prefers-color-scheme: dark)");
  repaint = () => this.drawAll(); // a page may follow the system's theme

  constructor() {
    super();
    this.root.className = "hl-explorer";
    this.ribbonBox.before(this.menu);
    this.root.append(this.grid, this.open);
    this.watcher.observe(this.ribbonBox);
    this.dark.addEventListener("change", this.repaint);
  }

  update() {
    const { selected, over, pairs } = this.data;
    this.selected = selected;
    this.over ??= { [selected[0]]: over }; // another sentence keeps what was laid over
    const before = this.pair && nameOf(this.pair);
    this.pair = pairs.find((part) => nameOf(part) === before) ?? null;
    this.pairs?.remove();
    if (pairs.length) {
      const name = `pair-${++controls}`;
      const choices = [null, ...pairs].map((part) => {
        const { input, label } = choice({ type: "radio", name }, part ? nameOf(part) : "both");
        input.checked = part === this.pair;
        input.addEventListener("change", () => {
          this.pair = part;
          this.drawAll();
        });
        return label;
      });
      this.pairs = make("fieldset", { class: "hl hl-explorer-pair" },
        make("legend", {}, "Texts of the pair"), ...choices);
      this.root.prepend(this.pairs);
    }
    this.drawAll();
  }

  /** Its parts lay themselves out. */
  layOut() {
    this.root.style.visibility = "";
  }

  drawAll() {
    const { data: { grid }, pair, options: { later } } = this;
    const parts = grid.parts.map((part) =>
      (pair && part.kind === PAIR_KIND ? pair.grid.parts[0] : part));
    const nameEnd = [grid.nameEnd, pair && nameOf(pair)].filter(Boolean).join(" · ");
    const data = { ...grid, selected: this.outlined(), parts, nameEnd };
    this.overview = mount(this.grid, HeadGrid, data, {
      onSelect: (head) => {
        if (!data.switches) {
          this.selected = head;
          this.drawHead();
        }
        this.options.onSelect?.(head);
      },
      later,
    });
    this.later(() => this.drawHead());
  }

  openHead(head: Head) {
    if (String(head) === String(this.selected)) return;
    this.selected = head;
    this.overview?.select(head);
    this.drawHead();
  }

  lay(over: LayerHead[]) {
    this.over = { ...this.over, [this.selected[0]]: over };
    this.drawHead();
  }

  /** Draw the open head: at once where its weights are at hand, else when they are unpacked. */
  drawHead() {
    const { weights, mean } = this.data;
    const [kind] = this.selected;
    const turn = ++this.turn;
    this.showMenu();
    const missing = this.stacked().filter((place) =>
      !(place ? weights.get(kind, ...place) : mean));
    if (!missing.length) {
      this.showHead();
      return;
    }
    this.open.setAttribute("aria-busy", "true");
    const loads = missing.map((place) => place && weights.load(kind, ...place));
    Promise.allSettled(loads).then((ends) => {
      if (turn !== this.turn) return;
      const lost = missing.filter((_, n) => ends[n].status === "rejected");
      if (lost.length) this.showWithout(lost as LayerHead[]);
      else this.showHead();
    });
  }

  /** Show what can be read: a lost head lies over no other; none opens if the open head is lost. */
  showWithout(lost: LayerHead[]) {
    const [kind] = this.selected;
    const isThere = (place: LayerHead | null) =>
      !lost.some((other) => String(other) === String(place));
    this.over = { ...this.over, [kind]: (this.over?.[kind] ?? []).filter(isThere) };
    this.showMenu();
    const [open] = this.stacked();
    if (isThere(open)) this.showHead();
    this.open.removeAttribute("aria-busy");
    this.problem.hidden = false;
    const names = lost.map((place) => this.nameOf(...place)).join(", ");
    this.problem.textContent = `The weights of ${names} cannot be read: the page is cut or `
      + `damaged, so make it again. ${isThere(open) ? "Below stands what can be read."
        : "Below stands what was open before."}`;
  }

  /** List layer and head of the open map and of those whose ribbons lie over it; null: the mean. */
  stacked(): (LayerHead | null)[] {
    const [, layer, head] = this.outlined() ?? [];
    return [layer == null || head == null ? null : [layer, head], ...this.others()];
  }

  others() {
    const over = this.over?.[this.selected[0]] ?? [];
    return over.filter((place) => String(place) !== String(this.outlined()?.slice(1)));
  }

  every(): LayerHead[] {
    const { grid: { order, parts }, together } = this.data;
    const [kind] = this.selected;
    const [part] = parts.filter((candidate) => candidate.kind === kind);
    if (!part) return [];
    const there = part.counts.flatMap((count, layer) =>
      range(together ? 1 : count).map((head): LayerHead => [layer, head]));
    const shown = order && new Set(order.map(String));
    return there.filter((place) => !shown || shown.has(String([kind, ...place])));
  }

  showHead() {
    const { name, weights, mean } = this.data;
    const [kind] = this.selected;
    const { map, ribbons, part } = this.shown(kind);
    const stacked = this.stacked();
    const numbers = stacked.map((place) =>
      part((place ? weights.get(kind, ...place) : mean) as Float32Array));
    const names = stacked.map((place) => (place ? this.nameOf(...place) : name));
    this.problem.hidden = true;
    this.open.removeAttribute("aria-busy");
    const title = [map.title, ...(this.pair && kind === PAIR_KIND ? [nameOf(this.pair)] : [])]
      .join(" · ");
    const before = this.views;
    const crossed = new Set(this.data.grid.crossed?.map(String));
    const painted = this.data.painted?.flatMap(({ place, row }) =>
      (String(place) === String([kind, ...stacked[0] ?? []]) ? [row] : []));
    const unused = stacked.map((place) => crossed.has(String([kind, ...place ?? []])));
    const off = `${names[0]} is removed: where it would look stands here faintly, and the model `
      + "writes without it.";
    this.views = [
      mount<MapData, AttentionMap>(this.map, AttentionMap,
        {
          ...map, title: `${names[0]} · ${title}`, weights: numbers[0], unused: unused[0], painted,
          ...unused[0] && { note: off },
        },
        this.options), // what is painted
      ...this.drawCompared(),
    ];
    for (const view of before) if (!this.views.includes(view)) view.remove();
    const dashed = unused.includes(true) ? " Dashed: the head is removed." : "";
    this.undrawn = {
      ...ribbons, note: ribbons.note + dashed, title, heads: names, weights: joined(numbers),
      unused,
    };
    if (this.inSight || numbers[0].length <= EASY) this.later(() => this.showRibbons());
    else {
      // those of a long text take a second to draw
      const { ribbonBox } = this;
      ribbonBox.style.minHeight = `${ribbonBox.offsetHeight}px`; // what stands below stays there
      this.ribbons?.remove();
      this.ribbons = undefined;
      ribbonBox.replaceChildren(make("p", { class: "hl" }, "The ribbons are drawn in sight only."));
    }
  }

  /** At once, so that a second press adds a second head. */
  showMenu() {
    const { data: { together }, choice: menu } = this;
    const [[open], over, every] = [this.stacked(), this.others(), this.every()];
    const taken = new Set([...over, ...(open ? [open] : [])].map(String));
    const rest = every.filter((place) => !taken.has(String(place)));
    const before = menu.value;
    this.label.textContent = together ? "Overlay another layer" : "Overlay another head";
    const optionsOf = (places: LayerHead[]) =>
      places.map((place) => make("option", { value: place.join(".") }, this.nameOf(...place)));
    const layers = [...new Set(rest.map(([layer]) => layer))];
    const listed = JSON.stringify([together, rest]);
    if (listed !== this.listed) { // fifty options cost as much as a picture
      this.listed = listed;
      menu.replaceChildren(...(together ? optionsOf(rest) : layers.map((layer) =>
        make("optgroup", { label: `layer ${layer + 1}` },
          ...optionsOf(rest.filter(([other]) => other === layer))))));
    }
    // the next one stays chosen, so that several are laid over with one key
    const next = before && (rest.find((place) => place.join(".") === before)
      ?? rest.find((place) => isAfter(place, layerHeadOf(before))));
    if (next) menu.value = next.join(".");
    const areMost = over.length + 1 >= MOST_HEADS;
    this.isFull = areMost || !rest.length;
    this.add.setAttribute("aria-disabled", String(this.isFull));
    this.add.title = areMost ? `${MOST_HEADS} heads at most` : "";
    this.clear.hidden = !over.length;
    this.menu.hidden = every.length < 2;
  }

  /** Get a map and its ribbons without weights, and the function that takes their weights. */
  shown(kind: string) {
    const { map, ribbons } = this.data.kinds[kind];
    const { pair } = this;
    if (!pair || kind !== PAIR_KIND) {
      return { map, ribbons, part: (weights: Float32Array) => weights };
    }
    return {
      map: { ...labelsOf(map, pair), note: pair.note },
      ribbons: labelsOf(ribbons, pair),
      part: (weights: Float32Array) => weightsOf(weights, map.keys.length, pair),
    };
  }

  showRibbons() {
    if (!this.undrawn) return;
    if (!this.ribbons) this.ribbonBox.replaceChildren();
    this.ribbons = mount(this.ribbonBox, Ribbons, this.undrawn, { later: this.options.later });
    this.ribbonBox.style.minHeight = "";
    this.undrawn = null;
  }

  nameOf(layer: number, head: number) {
    const { together } = this.data;
    return together ? `layer ${layer + 1} · ${together}` : `L${layer + 1} H${head + 1}`;
  }

  /** Get the head that the grid outlines: a mean is not a head. */
  outlined([kind, layer, head]: Opened = this.selected): Head | null {
    const map = this.data.together ? 0 : head;
    return layer == null || map == null ? null : [kind, layer, map];
  }

  /** Draw the second map and the difference: they belong to the map that was open first. */
  drawCompared() {
    const { compared, selected } = this.data;
    const drawn = String(this.outlined()) === String(this.outlined(selected)) ? compared : [];
    while (this.compared.children.length > drawn.length) this.compared.lastElementChild?.remove();
    while (this.compared.children.length < drawn.length) this.compared.append(make("div"));
    return drawn.map((map, n) => mount(this.compared.children[n], AttentionMap, map));
  }

  remove() {
    this.dark.removeEventListener("change", this.repaint);
    this.turn++; // what is still being unpacked is drawn no more
    this.watcher.disconnect();
    for (const view of [this.overview, this.ribbons, ...this.views]) view?.remove();
    super.remove();
  }
}

function joined(parts: Float32Array[]): Float32Array {
  const all = new Float32Array(parts.length * parts[0].length);
  parts.forEach((part, n) => all.set(part, n * part.length));
  return all;
}

/** Layer and head from 0. */
type LayerHead = [layer: number, head: number];

function layerHeadOf(value: string): LayerHead {
  const [layer, head] = value.split(".").map(Number);
  return [layer, head];
}

const isAfter = ([layer, head]: LayerHead, [otherLayer, otherHead]: LayerHead) =>
  layer > otherLayer || (layer === otherLayer && head > otherHead);
