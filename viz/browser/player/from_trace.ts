// What the player shows of a trace: the beginning of a long sentence, the search step by step, the
// links of its words, and the head of each kind that is open first.

import {
  axesOf, captionOf, counted, displayTokens, isPunctuation, languagesOf, looksSpecial, SCREEN_NAMES,
} from "../core/labels.ts";
import { COLOR, paletteOf } from "../core/palette.ts";
import { linkSummary, wordLinks } from "../word_links/from_trace.ts";
import type { About, Kind, KindTrace, Side, Trace, WordLink } from "../core/trace.ts";
import type { KindData, PlayerData } from "./plan.ts";

export const WINDOW = 48; // subwords of each side that are drawn
const GRID_CAPTION = "every head, lens: weights.";
const CAPTION = "What every head looks at, step by step of the search.";

/** List the subwords of a translation, after the token that it begins with. */
export const writtenOf = ({ pieces }: Side) => displayTokens(["<s>", ...pieces]);

/** What the page chooses; what is left out is read from the trace. */
export interface PlayerChoices {
  kind?: Kind; // that is open first
  selected?: Partial<Record<Kind, [layer: number, head: number]>>; // of each kind
  links?: WordLink[];
  linked?: PlayerData["linked"];
  breaks?: boolean; // whether the host removes heads
  arrival?: number; // changes where the player begins anew
  // saved steps of a run, of which the trace has the weights one after another
  training?: PlayerData["training"];
  moment?: number | null;
}

export function playerData(
  trace: Trace, about: About, choices: PlayerChoices = {},
): PlayerData & { caption: string[] } {
  const { kind: first = "cross", selected = {}, training = [], links } = choices;
  const { alignment } = about;
  const source = displayTokens(trace.source.pieces);
  const read = ["<s>", ...trace.target.pieces];
  const shown = trace.options.slice(0, WINDOW);
  const labels = displayTokens([...read, ...shown.flatMap(({ pieces }) => pieces)]);
  const [written, options] = [labels.slice(0, read.length), labels.slice(read.length)];
  const drawn = links ?? wordLinks(trace, about);
  const outside = ([["sentence", source.length], ["translation", written.length - 1]] as const)
    .filter(([, count]) => count > WINDOW)
    .map(([side, count]) => `${counted(count - WINDOW, "subword")} of the ${side}`);
  return {
    title: training.length ? "The attention as the model learns"
      : "The translation as it is written",
    source: source.slice(0, WINDOW), written: written.slice(0, WINDOW + 1), target: trace.target,
    languages: languagesOf(about), outside: outside.join(" and "), kind: first,
    kinds: mapsOf(trace).map((maps, n) => {
      const part = trace.kinds[n];
      const { kind, layers, heads } = part;
      return {
        ...maps, name: SCREEN_NAMES[kind], color: COLOR[kind], layers, heads,
        selected: selected[kind] ?? watchedHead(trace, part, drawn), palette: paletteOf(kind),
      };
    }),
    steps: shown.map(({ pieces, p, taken }) => ({
      taken,
      options: pieces.map((_, n) => ({ label: options.shift() as string, p: Math.min(1, p[n]) })),
    })),
    training, moment: choices.moment,
    links: pieceLinks(trace, drawn).filter((link) => Math.max(link.source, link.target) < WINDOW),
    linked: choices.linked ?? (alignment ? {
      head: alignment.head === null ? null : [alignment.layer, alignment.head],
      about: linkSummary(trace, alignment),
    } : undefined),
    crossed: trace.edited.removed.map(([kind, layer, head]) => ({ kind, layer, head })),
    breaks: choices.breaks ?? false, arrival: choices.arrival ?? 0,
    caption: captionOf(trace, about, training.length ? GRID_CAPTION : CAPTION),
  };
}

/** Return every head's weights with the number of rows and columns that are drawn. */
const mapsOf = (trace: Trace) => trace.kinds.map((part) => {
  const [queries, keys] = part.size ?? axesOf(trace, part.kind).map(({ length }) => length);
  const whole: KindData["whole"] = [queries, keys];
  const size: KindData["size"] = [Math.min(queries, WINDOW), Math.min(keys, WINDOW)];
  return { kind: part.kind, weights: part.weights, whole, size };
});

/** Let links join the first pieces of their words. */
export const pieceLinks = ({ source, target }: Trace, links: WordLink[]) =>
  links.map((link) => ({
    ...link,
    source: source.words.indexOf(link.source), target: target.words.indexOf(link.target),
  }));

/** Choose the head of a kind that is open first. In cross-attention it gives most weight to the
 * linked source word while its translation is written. Elsewhere it gives most to a single token,
 * neither a sink nor the token that looks. */
export function watchedHead(
  trace: Trace, { kind, layers, heads, weights, size }: KindTrace, links: WordLink[],
): [layer: number, head: number] {
  const [queries, keys] = axesOf(trace, kind).map((side, n) => side.slice(0, size?.[n]));
  const linked = new Set(links.filter(({ mutual }) => mutual).map(({ source, target }) =>
    `${target} ${source}`));
  const [isLinked, isPlain] = [
    (query: number, key: number) =>
      linked.has(`${trace.target.words[query]} ${trace.source.words[key]}`),
    (query: number, key: number) => !looksSpecial(keys[key]) && !isPunctuation(keys[key])
      && (kind === "cross" || query !== key),
  ];
  const sums = kind === "cross" && linked.size > 0; // else the largest weight of each row
  const counts = sums ? isLinked : isPlain;
  const cells = queries.map((_, query) =>
    [...keys.keys()].filter((key) => counts(query, key)).map((key) => query * keys.length + key));
  let [best, most] = [0, -1];
  for (let map = 0; map < layers * heads; map++) {
    const from = map * queries.length * keys.length;
    let value = 0;
    for (const row of cells) {
      let largest = 0;
      for (const cell of row) {
        const weight = weights[from + cell];
        if (sums) value += weight;
        else if (weight > largest) largest = weight;
      }
      value += largest;
    }
    if (value > most) [best, most] = [map, value];
  }
  return [Math.floor(best / heads), best % heads];
}
