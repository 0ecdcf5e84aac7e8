// What a player shows, as `encode_player` and `encode_learning` of viz/draw/player.py send it, the
// weights of a head at any moment between two steps, and the places: the subwords of the source in
// lines above, those of the translation below, room for ribbons between them, the bars of the next
// subword beside them, a tile for each head.

import { within } from "../core/text.ts";
import type { Kind } from "../attention_map/plan.ts";
import type { Palette } from "../core/color.ts";
import type { Measure } from "../core/theme.ts";

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

export interface Place { x: number; y: number; width: number; line: number } // of a subword
export type PlayerPlan = ReturnType<typeof planPlayer>;

export const FONT = { large: 19, small: 15 };
export const BARS = { rows: 5, row: 25, width: 236, gap: 28, title: 22, note: 22 };
export const ENDS = { wide: 150, narrow: 112, gap: 24, title: 20 };
const NARROW = 720; // below it bars and maps stand under the translation
const BAND = { wide: 128, narrow: 92 };
const GAP = { large: 16, small: 10, widest: 64 }; // between two subwords
const LINE = { large: 30, small: 25 };

export function planPlayer(data: PlayerData, width: number, measure: Measure) {
  const hasBars = data.steps.length > 0;
  const hasEnds = data.training.length > 1;
  const aside = hasBars ? BARS.width : hasEnds ? 2 * ENDS.wide + ENDS.gap : 0;
  const beside = aside > 0 && width >= NARROW;
  const room = beside ? width - aside - BARS.gap : width;
  const key = [data.source, data.written].every((texts) =>
    widthOf(texts, FONT.large, GAP.large, measure) <= room) ? "large" : "small";
  const [font, high] = [FONT[key], LINE[key]];
  const flow = (texts: string[], top: number) => {
    // a short sentence is spread over the width, so that both stand one below the other
    const free = room - widthOf(texts, font, GAP[key], measure);
    const spread = within(free / Math.max(1, texts.length - 1), 0, GAP.widest - GAP[key]);
    return flowed(texts, { top, room, font, gap: GAP[key] + spread, high }, measure);
  };
  const source = flow(data.source, 0);
  const top = source.bottom;
  const bottom = top + (beside ? BAND.wide : BAND.narrow);
  const written = flow(data.written, bottom);
  const bars = !hasBars ? null : { // a canvas of their own
    width: beside ? BARS.width : width, beside,
    height: BARS.title + BARS.rows * BARS.row + BARS.note,
  };
  // maps of the first and the last step
  const ends = !hasEnds ? null : beside ? { x: room + BARS.gap, y: 0, side: ENDS.wide }
    : { x: 0, y: written.bottom + 14, side: ENDS.narrow };
  return {
    width: ends ? width : room, font, high, top, bottom, bars, ends,
    height: Math.max(written.bottom + 4, ends ? ends.y + ENDS.title + ends.side + 2 : 0),
    source: source.places, written: written.places,
  };
}

const widthOf = (texts: string[], font: number, gap: number, measure: Measure) =>
  texts.reduce((sum, text) => sum + Math.ceil(measure(text, font, 600)) + gap, -gap);

function flowed(
  texts: string[], { top, room, font, gap, high }: Record<string, number>, measure: Measure,
) {
  let [x, line] = [0, 0];
  const places = texts.map((text) => {
    const width = Math.ceil(measure(text, font, 600)); // so that none moves when it is bold
    if (x && x + width > room + 1) [x, line] = [0, line + 1];
    const place = { x, y: top + line * high, width, line };
    x += width + gap;
    return place;
  });
  return { places, bottom: top + (line + 1) * high };
}

export type Tile = ReturnType<typeof planTiles>["tiles"][number];

export const TILE = { gap: 6, between: 5, name: 24, head: 16 };
const ROW = { low: 15, least: 22 };

/** Give every head of a kind its tile: a line for each layer, a column for each head.
 * @param whole whether a tile holds the whole map of its head, not one row */
export function planTiles(
  { layers, heads, size: [queries, keys] }: KindData, width: number, whole: boolean,
) {
  const side = (width - TILE.name + TILE.gap) / heads - TILE.gap;
  const high = whole
    ? Math.round(within((side * queries) / keys, ROW.least, 38))
    : ROW.low;
  const tiles = Array.from({ length: layers * heads }, (_, n) => {
    const [layer, head] = [Math.floor(n / heads), n % heads];
    const x = TILE.name + head * (side + TILE.gap);
    const y = TILE.head + layer * (high + TILE.between);
    return { layer, head, x, y, width: side, height: high };
  });
  return { tiles, width, height: TILE.head + layers * (high + TILE.between) };
}
