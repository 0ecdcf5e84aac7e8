// Message of `encode_architecture` in viz/draw/architecture.py: the boxes of Figure 1, each with
// the values that flow through it.

/** @typedef {"encoder_self" | "decoder_self" | "cross"} Kind */

/**
 * @typedef {object} ModelBox
 * @property {string} name by which the plan knows its place
 * @property {string} title
 * @property {string} shape of what leaves it, in words
 * @property {string} label for a screen reader
 * @property {Kind | null} kind of the attention
 * @property {string | null} color of that kind
 * @property {number} maps one for each head, or a single strip; 0 where nothing is drawn
 * @property {number} rows
 * @property {number} columns
 * @property {Uint8Array} values `[map, row, column]`, places in the palette; empty where maps is 0
 *
 * @typedef {object} ModelData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {number} layers
 * @property {number} layer the one that is drawn, from 0
 * @property {string} selected name of the open box
 * @property {string} memoryColor of the line from the encoder to cross-attention
 * @property {ModelBox[]} boxes
 * @property {Record<"difference" | Kind, import("../core/raster.js").Palette>} palettes
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {ModelData}
 */
export function read({ meta, arrays, shapes }) {
  /** @param {string} name */
  const palette = (name) => ({ light: arrays[`${name}.light`], dark: arrays[`${name}.dark`] });
  /** @param {Pick<ModelBox, "name">} box */
  const whole = (box) => {
    const [maps, rows, columns] = shapes[box.name] ?? [0, 0, 0];
    return { ...box, maps, rows, columns, values: arrays[box.name] ?? new Uint8Array() };
  };
  return {
    ...meta,
    boxes: meta.boxes.map(whole),
    palettes: Object.fromEntries(meta.palettes.map((/** @type {string} */ name) =>
      [name, palette(name)])),
  };
}

/**
 * The colours of what flows through a box.
 * @param {ModelData} data
 * @param {Pick<ModelBox, "kind">} box
 * @param {import("../core/theme.js").ThemeName} theme
 */
export const colorsOf = ({ palettes }, { kind }, theme) => palettes[kind ?? "difference"][theme];
