// The menu of the heads whose ribbons lie over those of the open head.

import { button, make } from "../core/dom.js";

/** Layer and head from 0. @typedef {[layer: number, head: number]} LayerHead */

export class OverMenu {
  /** @param {(over: LayerHead[]) => void} change hears of all that lie over the open head */
  constructor(change) {
    /** @type {LayerHead[]} */
    this.over = [];
    this.select = make("select");
    this.full = false; // a button that disabled itself would drop the focus
    this.add = button("Add", () => {
      if (!this.full) change([...this.over, layerHeadOf(this.select.value)]);
    });
    this.clear = button("Remove all", () => {
      change([]);
      this.select.focus(); // this button is hidden now
    });
    this.label = make("span");
    this.root = make("div", { class: "hl hl-explorer-over" },
      make("label", {}, this.label, this.select), this.add, this.clear);
  }

  /**
   * @param {object} state
   * @param {LayerHead[]} state.every heads of this kind, in order
   * @param {LayerHead | null} state.open null is a mean
   * @param {LayerHead[]} state.over
   * @param {number} state.most heads that have a colour, the open one among them
   * @param {(layer: number, head: number) => string} state.nameOf
   * @param {boolean} state.together whether a map is of all heads of a layer
   */
  show({ every, open, over, most, nameOf, together }) {
    this.over = over;
    const taken = new Set([...over, ...(open ? [open] : [])].map(String));
    const rest = every.filter((place) => !taken.has(String(place)));
    const before = this.select.value;
    this.label.textContent = together ? "Overlay another layer" : "Overlay another head";
    this.select.replaceChildren(...byLayer(rest, together).map(([layer, places]) => {
      const options = places.map((place) =>
        make("option", { value: place.join(".") }, nameOf(...place)));
      return layer == null ? options : [make("optgroup", { label: `layer ${layer + 1}` },
        ...options)];
    }).flat());
    // the next one stays chosen, so that several are laid over with one key
    const next = before && (rest.find((place) => place.join(".") === before)
      ?? rest.find((place) => isAfter(place, layerHeadOf(before))));
    if (next) this.select.value = next.join(".");
    this.full = over.length + 1 >= most || !rest.length;
    this.add.setAttribute("aria-disabled", String(this.full));
    this.add.title = over.length + 1 >= most ? `${most} heads at most` : "";
    this.clear.hidden = !over.length;
    this.root.hidden = every.length < 2;
  }
}

/** @param {string} value @returns {LayerHead} */
function layerHeadOf(value) {
  const [layer, head] = value.split(".").map(Number);
  return [layer, head];
}

/** @param {LayerHead} one @param {LayerHead} other */
const isAfter = ([layer, head], [otherLayer, otherHead]) =>
  layer > otherLayer || (layer === otherLayer && head > otherHead);

/**
 * @param {LayerHead[]} places
 * @param {boolean} together a list without groups
 * @returns {[layer: number | null, places: LayerHead[]][]}
 */
function byLayer(places, together) {
  if (together) return [[null, places]];
  const layers = [...new Set(places.map(([layer]) => layer))];
  return layers.map((layer) => [layer, places.filter(([other]) => other === layer)]);
}
