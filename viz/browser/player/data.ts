// What a player shows, as `encode_player` and `encode_learning` of viz/draw/player.py send it, and
// the weights of a head at any moment between two steps.

import type { Kind } from "../attention_map/plan.ts";
import type { Palette } from "../core/color.ts";
import type { Message } from "../core/wire.ts";

export interface Head { kind: Kind; layer: number; head: number }

export interface KindData {
  kind: Kind;
  name: string;
  color: string;
  layers: number;
  heads: number; // of each layer
  selected: [layer: number, head: number]; // what is open first
  weights: Uint16Array; // `[moment, layer, head, query, key]`, 65,535 for 1
  size: [query: number, key: number];
  palette: Palette;
}

export interface PlayerData {
  title: string;
  source: string[]; // its subwords
  written: string[]; // those of the translation, after the token that it begins with
  languages: [source: string, target: string];
  outside: string; // what is not drawn of a long sentence; "" where all is
  kind?: Kind; // that is open first
  kinds: KindData[];
  // of a search
  steps: { options: { label: string; p: number }[]; taken: number; beginnings: string[] }[];
  // saved steps of a run, instead; `written` is null where the run did not save it
  training: { number: number; written: string | null; loss: string }[];
  moment?: number | null; // of a run: what is open first; null plays
  arrival?: number; // changes where the player begins anew
  // between the first subwords of words
  links: { source: number; target: number; mutual: boolean; strength: number }[];
}

const ONE = 65_535;

export function readPlayer({ meta, arrays, shapes }: Message): PlayerData {
  const kinds = meta.kinds.map((kind: KindData) => ({
    ...kind, weights: arrays[kind.kind], size: shapes[kind.kind].slice(3),
    palette: { light: arrays[`${kind.kind}.light`], dark: arrays[`${kind.kind}.dark`] },
  }));
  return { ...meta, kinds };
}

/** Count the moments: saved steps of a run; source subwords in the encoder; else search steps. */
export function momentsOf({ training }: PlayerData, { size }: KindData) {
  return training.length || size[0];
}

/** Get a weight, from 0 to 1. @param moment of a training run, else 0 */
export function weightOf(
  { weights, layers, heads, size: [queries, keys] }: KindData, moment: number, layer: number,
  head: number, query: number, key: number,
) {
  const map = (moment * layers + layer) * heads + head;
  return weights[(map * queries + query) * keys + key] / ONE;
}

/** Mix the rows before and after a moment: what a head looks at while one becomes the other. */
export function rowBetween(
  kind: KindData, { layer, head }: Head, query: number, part: number,
): number[] {
  return Array.from({ length: kind.size[1] }, (_, key) => {
    const now = weightOf(kind, 0, layer, head, query, key);
    const before = query ? weightOf(kind, 0, layer, head, query - 1, key) : 0;
    return before + part * (now - before);
  });
}

export function mapBetween(
  kind: KindData, { layer, head }: Head, moment: number, part: number,
): number[][] {
  const before = Math.max(0, moment - 1);
  return Array.from({ length: kind.size[0] }, (_, query) =>
    Array.from({ length: kind.size[1] }, (__, key) => {
      const from = weightOf(kind, before, layer, head, query, key);
      return from + part * (weightOf(kind, moment, layer, head, query, key) - from);
    }));
}

export const strongest = (row: number[]) => row.indexOf(Math.max(...row));

/** Write a share in whole per cent, never 0 or 100 where it is neither. */
export function percent(share: number) {
  if (share > 0 && share < 0.01) return "below 1 %";
  if (share < 1 && share > 0.99) return "over 99 %";
  return `${Math.round(100 * share)} %`;
}
