// What a player shows, as from_trace.ts makes it; the weights of a head at any moment between two
// steps; and the places: the subwords of the source in a line above, those of the translation
// below, room for ribbons between them, the bars of the next subword beside them, a tile for each
// head. A line that is longer than the picture scrolls.

import { SPECIAL, within } from "../core/text.ts";
import type { Kind, Side } from "../core/trace.ts";
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
  weights: Float32Array; // `[moment, layer, head, query, key]`
  whole: [query: number, key: number]; // of the weights
  size: [query: number, key: number]; // of those that are drawn, the first ones
  palette: Palette;
}

export interface PlayerData {
  title: string;
  source: string[]; // its subwords
  written: string[]; // those of the translation, after the token that it begins with
  target?: Side; // the translation as the tokenizer has it, which is asked for by `breaks`
  languages: [source: string, target: string];
  outside: string; // what is not drawn of a long sentence; "" where all is
  kind?: Kind; // that is open first
  kinds: KindData[];
  // of a search
  steps: { options: { label: string; p: number }[]; taken: number }[];
  // saved steps of a run, instead; `written` is null where the run did not save it
  training: { number: number; written: string | null; loss: string }[];
  moment?: number | null; // of a run: what is open first; null plays
  arrival?: number; // changes where the player begins anew
  // between the first subwords of words
  links: { source: number; target: number; mutual: boolean; strength: number }[];
  // the head of the cross-attention whose map makes the links, and a sentence on their error
  linked?: { head: [layer: number, head: number] | null; about: string };
  crossed?: Head[]; // removed while this was written
  breaks?: boolean; // whether the host removes heads
  row?: RowPart[]; // beside what the whole model writes; then all stands there at once
  opens?: boolean; // whether a click on a ribbon opens its head, instead of its numbers
}

/** Last this long, in ms: a word of a search so long that it can be read, all in 12 s at most. */
export const paceOf = (data: PlayerData, kind: KindData) =>
  (data.training.length ? 450 : within(11_000 / momentsOf(data, kind), 350, 900));

/** Count the moments: saved steps of a run; source subwords in the encoder; else search steps. */
export function momentsOf({ training }: PlayerData, { size }: KindData) {
  return training.length || size[0];
}

/** Get a weight, from 0 to 1. @param moment of a training run, else 0 */
export function weightOf(
  { weights, layers, heads, whole: [queries, keys] }: KindData, moment: number,
  layer: number, head: number, query: number, key: number,
) {
  const map = (moment * layers + layer) * heads + head;
  return weights[(map * queries + query) * keys + key];
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

export interface Place { x: number; y: number; width: number } // of a subword

/** A part of the translation without some heads: a subword of it, kept or new, by its index in
 * `written`; or a word of the original one that it lost. */
export type RowPart = { piece: number; new: boolean } | { text: string };

export type PlayerPlan = ReturnType<typeof planPlayer>;

/** Letters with the gap between two subwords: the largest with which a line fits, else the middle
 * ones, and the line scrolls. */
const SIZES = [{ font: 19, gap: 16 }, { font: 15, gap: 10 }, { font: 13, gap: 6 }];
export const BARS = { rows: 5, row: 25, width: 236, gap: 28, title: 22 };
export const ENDS = { wide: 150, narrow: 112, gap: 24, title: 20 };
const NARROW = 720; // below it bars and maps stand under the translation
const BAND = { wide: 116, narrow: 92 };
const WIDEST = 112; // the gap in a short sentence
const LINE = { large: 30, small: 25 };
const NAMED = 18; // of a line that names the words of a run

/** @param row the translation without some heads; by default it is as it was written
 * @param aside whether next subwords or numbers stand beside; else the words have their room */
export function planPlayer(
  data: PlayerData, width: number, measure: Measure,
  row: RowPart[] = data.written.map((_, piece) => ({ piece, new: false })), aside = true,
) {
  const hasBars = data.steps.length > 0 && aside;
  const hasEnds = data.training.length > 1;
  const other = hasBars ? BARS.width : hasEnds ? 2 * ENDS.wide + ENDS.gap : 0;
  const isWide = width >= NARROW;
  const beside = other > 0 && isWide;
  const room = beside ? width - other - BARS.gap : width;
  const shown = (text: string) => SPECIAL.get(text) ?? text;
  const texts = row.map((part) => ("text" in part ? part.text : shown(data.written[part.piece])));
  const sources = data.source.map(shown);
  const { font, gap } = SIZES.find((size) => [sources, texts].every((line) =>
    widthOf(line, size.font, size.gap, measure) <= room)) ?? SIZES[1];
  // as high in all sizes: a longer sentence moves nothing below it
  const high = isWide ? LINE.large : LINE.small;
  const flow = (line: string[], y: number) => {
    // a short sentence is spread over the width, so that both stand one below the other
    const free = room - widthOf(line, font, gap, measure);
    const gaps = line.filter((text, n) => n > 0 && !goesOn(text)).length;
    const spread = within(free / Math.max(1, gaps), 0, WIDEST - gap);
    let x = 0;
    return line.map((text, n): Place => {
      if (n > 0 && !goesOn(text)) x += gap + spread;
      const place = { x, y, width: Math.ceil(measure(text, font, 600)) }; // as wide when bold
      x += place.width;
      return place;
    });
  };
  const bottom = high + (isWide ? BAND.wide : BAND.narrow);
  const source = flow(sources, 0);
  const parts = flow(texts, bottom);
  const written: Place[] = [];
  const lost: (Place & { text: string })[] = [];
  const added = new Set<number>();
  for (const [n, part] of row.entries()) {
    if ("text" in part) lost.push({ ...parts[n], text: part.text });
    else {
      written[part.piece] = parts[n];
      if (part.new) added.add(part.piece);
    }
  }
  const bars = !hasBars ? null : { // a canvas of their own
    width: beside ? BARS.width : width, beside,
    height: BARS.title + BARS.rows * BARS.row,
  };
  const below = bottom + high + (hasEnds ? NAMED : 0);
  // maps of the first and the last step
  const ends = !hasEnds ? null : beside ? { x: room + BARS.gap, y: 0, side: ENDS.wide }
    : { x: 0, y: below + 14, side: ENDS.narrow };
  const longest = Math.max(...[source, parts].map((places) => {
    const last = places[places.length - 1];
    return last ? Math.floor(last.x + last.width) : 0;
  }));
  return {
    width: Math.max(longest, ends ? width : room), room: ends ? width : room, font, high, bottom,
    top: high, bars, ends, source, written, added, lost,
    height: Math.max(below + 4, ends ? ends.y + ENDS.title + ends.side + 2 : 0),
  };
}

const widthOf = (texts: string[], font: number, gap: number, measure: Measure) =>
  texts.reduce((sum, text) =>
    sum + Math.ceil(measure(text, font, 600)) + (goesOn(text) ? 0 : gap), -gap);

/** Test whether a subword goes on with the word before it, to which it is then joined. */
const goesOn = (text: string) => text.startsWith("·");

export type Tile = ReturnType<typeof planTiles>["tiles"][number];

export const TILE = { gap: 6, between: 5, name: 24, head: 16, frame: 3 };
const ROW = { low: 15, touch: 32, least: 22 };

/** Give every head of a kind its tile: a line for each layer, a column for each head.
 * @param whole whether a tile holds the whole map of its head, not one row */
export function planTiles(
  { layers, heads, size: [queries, keys] }: KindData, width: number, whole: boolean,
) {
  const side = (width - TILE.name - TILE.frame + TILE.gap) / heads - TILE.gap;
  const low = width < NARROW ? ROW.touch : ROW.low; // as large as a finger
  const high = whole
    ? Math.round(within((side * queries) / keys, Math.max(low, ROW.least), 38))
    : low;
  const tiles = Array.from({ length: layers * heads }, (_, n) => {
    const [layer, head] = [Math.floor(n / heads), n % heads];
    const x = TILE.name + head * (side + TILE.gap);
    const y = TILE.head + layer * (high + TILE.between);
    return { layer, head, x, y, width: side, height: high };
  });
  return { tiles, width, height: TILE.head + layers * (high + TILE.between) };
}
