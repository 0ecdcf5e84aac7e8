// The weights of the heads: those that came with the message, and those that lie in the page as one
// text for each head, which is unpacked when the head is opened.

import { unzip } from "../core/unzip.js";
import { TYPES } from "../core/wire.js";

const KEPT = 24; // heads that stay unpacked; of 512 tokens each is a megabyte

/** The text of a head by its name, such as `cross.2.5`.
 * @typedef {(name: string) => Promise<string>} TextOf */

/** How a text is written, as `Packing` in viz/draw/packed_heads.py says it.
 * @typedef {{dtype: keyof typeof TYPES, unit: number}} Packing */

/**
 * @typedef {object} Inside
 * @property {Record<string, Float32Array>} whole `[layer, head, query, key]` of the kinds that came
 * @property {Record<string, number>} heads of a layer in `whole`
 * @property {Record<string, number>} sizes weights of one head
 */

export class HeadWeights {
  /**
   * @param {Inside} inside
   * @param {Packing} packing
   * @param {TextOf} [textOf]
   */
  constructor(inside, packing, textOf) {
    this.inside = inside;
    this.packing = packing;
    this.textOf = textOf;
    /** @type {Map<string, Float32Array>} */
    this.unpacked = new Map(); // the one that was asked for last is the last
  }

  /**
   * The weights of one head, `[query, key]`, if they are at hand.
   * @param {string} kind
   * @param {number} layer
   * @param {number} head
   */
  get(kind, layer, head) {
    const { whole, heads, sizes } = this.inside;
    if (!whole[kind]) {
      const name = [kind, layer, head].join(".");
      const weights = this.unpacked.get(name);
      if (weights) this.keep(name, weights);
      return weights;
    }
    const first = (layer * heads[kind] + head) * sizes[kind];
    return whole[kind].subarray(first, first + sizes[kind]);
  }

  /**
   * Fetch them.
   * @param {string} kind
   * @param {number} layer
   * @param {number} head
   * @throws if the page does not have them
   */
  async load(kind, layer, head) {
    const name = [kind, layer, head].join(".");
    if (!this.textOf) throw new Error(`no weights of ${name}`);
    const weights = await unpack(await this.textOf(name), this.packing);
    if (weights.length !== this.inside.sizes[kind]) throw new Error(`${name} is cut`);
    this.keep(name, weights);
    for (const old of this.unpacked.keys()) {
      if (this.unpacked.size <= KEPT) break;
      this.unpacked.delete(old);
    }
  }

  /** As the last one. @param {string} name @param {Float32Array} weights */
  keep(name, weights) {
    this.unpacked.delete(name);
    this.unpacked.set(name, weights);
  }
}

/**
 * @param {string} text
 * @param {Packing} packing
 * @returns {Promise<Float32Array>}
 */
export async function unpack(text, { dtype, unit }) {
  const planes = await unzip(text);
  const Type = TYPES[dtype];
  const wide = Type.BYTES_PER_ELEMENT;
  const count = planes.length / wide;
  const bytes = new Uint8Array(planes.length);
  for (let plane = 0, from = 0; plane < wide; plane++) {
    for (let at = plane; at < bytes.length; at += wide) bytes[at] = planes[from++];
  }
  const numbers = new Type(bytes.buffer, 0, count);
  if (numbers instanceof Float32Array) return numbers;
  return new Float32Array(numbers).map((steps) => steps * unit);
}
