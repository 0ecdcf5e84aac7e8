// Messages of other components in one, the weights of the heads that are at hand or in the page,
// and the four parts of a map over a pair of texts, as an encoder such as BERT reads two: which
// text looks, and into which.

import { TYPES, unzip } from "../core/wire.ts";
import type { Axes, MapData } from "../attention_map/plan.ts";
import type { GridData, Head, Part } from "../head_grid/plan.ts";
import type { RibbonData } from "../ribbons.ts";

/** A map: kind, layer and head from 0; null stands for the mean over layers or heads. */
export type Opened = [kind: string, layer: number | null, head: number | null];

/** A map and ribbons with all labels; their weights are 0. */
interface KindData { map: MapData; ribbons: RibbonData }

export interface ExplorerData { // the message of `encode_explorer` in viz/draw/explorer.py
  selected: Opened; // which is open first
  title: string; // of that map
  mean: Float32Array | null; // its weights, where it is a mean and no head
  together: string | null; // what stands in the place of a head, where a map is of a layer
  over: [layer: number, head: number][]; // whose ribbons lie over its own
  mostHeads: number; // that lie over each other: there are as many colours
  compared: MapData[]; // a second map, the difference
  grid: GridData;
  pairs: PairPart[]; // the parts of a pair of texts; none of one text
  kinds: Record<string, KindData>;
  weights: HeadWeights;
}

const LARGEST_CACHE = 24; // heads that stay unpacked; of 512 tokens each is a megabyte

/** The text of a head by its name, such as `cross.2.5`. */
export type TextOf = (name: string) => Promise<string>;

export function headOf(name: string) {
  const [kind, ...numbers] = name.split(".");
  const [layer, head] = numbers.map(Number);
  return [kind, layer, head] as Head;
}

/** The encoding of a text, as `Packing` in viz/draw/packed_heads.py. */
interface Packing { dtype: keyof typeof TYPES; unit: number }

interface Inside {
  whole: Record<string, Float32Array>; // `[layer, head, query, key]` of the kinds that came
  heads: Record<string, number>; // of a layer in `whole`
  sizes: Record<string, number>; // weights of one head
}

export class HeadWeights {
  declare inside: Inside;
  declare packing: Packing;
  textOf?: TextOf;
  unpacked = new Map<string, Float32Array>(); // the one that was asked for last is the last

  constructor(inside: Inside, packing: Packing, textOf?: TextOf) {
    this.inside = inside;
    this.packing = packing;
    this.textOf = textOf;
  }

  /** Get the weights of one head, `[query, key]`, if they are at hand. */
  get(kind: string, layer: number, head: number) {
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

  /** Unpack the weights of a head. @throws if the page does not have them */
  async load(kind: string, layer: number, head: number) {
    const name = [kind, layer, head].join(".");
    if (!this.textOf) throw new Error(`no weights of ${name}`);
    const weights = await unpack(await this.textOf(name), this.packing);
    if (weights.length !== this.inside.sizes[kind]) throw new Error(`${name} is cut`);
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

export const PAIR_KIND = "encoder_self"; // the one kind whose rows and columns are a pair

export interface PairPart { // as viz/draw/pair_parts.py writes it
  looking: "first" | "second";
  looked_at: "first" | "second";
  rows: [first: number, end: number];
  keys: [first: number, end: number];
  note: string; // instead of the map's own
  part: Part; // all heads small
}

export const nameOf = ({ looking, looked_at: lookedAt }: PairPart) => `${looking} → ${lookedAt}`;

/** Take the labels and words of this part out of a map or its ribbons. */
export const labelsOf = <D extends Omit<Axes, "kind" | "note">>(
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
