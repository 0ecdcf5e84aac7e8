// The weights of heads: those of a kind together, or of each head in a text of its own, which is
// unpacked when it is asked for.

import { TYPES, unzip } from "./core/wire.ts";

const LARGEST_CACHE = 24; // heads that stay unpacked; of 512 tokens each is a megabyte

export type TextOf = (name: string) => Promise<string>;

/** The encoding of a text, as `Packing` in viz/draw/explorer.py. */
interface Packing { dtype: keyof typeof TYPES; unit: number }

/** What is known of each kind. */
type Kinds = Record<string, {
  heads: number; // of a layer
  weights: Float32Array | null; // `[layer, head, query, key]`; null where each head is apart
  map: { queries: string[]; keys: string[] };
}>;

export class HeadWeights {
  declare kinds: Kinds;
  declare packing: Packing;
  textOf?: TextOf;
  unpacked = new Map<string, Float32Array>(); // the one that was asked for last is the last

  constructor(kinds: Kinds, packing: Packing, textOf?: TextOf) {
    this.kinds = kinds;
    this.packing = packing;
    this.textOf = textOf;
  }

  sizeOf(kind: string) {
    const { queries, keys } = this.kinds[kind].map;
    return queries.length * keys.length;
  }

  get(kind: string, layer: number, head: number) {
    const { weights: whole, heads } = this.kinds[kind];
    if (!whole) {
      const name = [kind, layer, head].join(".");
      const weights = this.unpacked.get(name);
      if (weights) this.keep(name, weights);
      return weights;
    }
    const size = this.sizeOf(kind);
    const first = (layer * heads + head) * size;
    return whole.subarray(first, first + size);
  }

  /** Unpack the weights of a head. @throws if the page does not have them */
  async load(kind: string, layer: number, head: number) {
    const name = [kind, layer, head].join(".");
    if (!this.textOf) throw new Error(`no weights of ${name}`);
    const weights = await unpack(await this.textOf(name), this.packing);
    if (weights.length !== this.sizeOf(kind)) throw new Error(`${name} is cut`);
    this.keep(name, weights);
    for (const old of this.unpacked.keys()) {
      if (this.unpacked.size <= LARGEST_CACHE) break;
      this.unpacked.delete(old);
    }
  }

  keep(name: string, weights: Float32Array) {
    this.unpacked.delete(name);
    this.unpacked.set(name, weights);
  }
}

export async function unpack(text: string, { dtype, unit }: Packing): Promise<Float32Array> {
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
