// Marks of a player at one moment: ribbons from what a head looks at, the words, the bars of the
// next subword, and the tiles of all heads.

import { blank, rasterOf, setPixel } from "../core/color.ts";
import { type Mark, path, picture, rect, text } from "../core/scene.ts";
import { digits, isolate, shortened, SPECIAL, tidy } from "../core/text.ts";
import type { Measure, Theme } from "../core/theme.ts";
import {
  BARS, ENDS, type Head, type KindData, mapBetween, type Place, type PlayerData, type PlayerPlan,
  rowBetween, strongest, TILE, type Tile, weightOf,
} from "./plan.ts";

const FAINTEST = 0.01; // a weight below it has no ribbon
const FAINTEST_OF_ALL = 0.08; // likewise where all rows are drawn at once
const RIBBON = { widest: 15, thinnest: 0.75 };
const LOOP = 0.55; // of the band: how far ribbons among one sentence's own words bend
const LINK = { thinnest: 1.25, widest: 7, dash: [7, 5] };
const SIZE = { bar: 13, title: 13 };

export interface Word { side: "source" | "written"; index: number }

/** What a player draws at one moment. */
export interface Moment {
  data: PlayerData;
  plan: PlayerPlan;
  theme: Theme;
  measure: Measure;
  kind: KindData;
  head: Head; // whose ribbons are drawn
  step: number;
  part: number; // of the step that is over
  all: boolean; // all is written, and all rows are drawn at once
  word: Word | null; // whose links are shown
  near: Ribbon | null; // under the pointer
  shows: "head" | "links";
  removed: Head[];
  crossed: Head[]; // the same, with those that were removed before
  writes: string; // without the removed heads
}

export function stageMarks(moment: Moment): Mark[] {
  const { data, plan } = moment;
  return [
    ...ribbonsOf(moment).map((ribbon) => ribbonMark(moment, ribbon)),
    ...wordMarks(moment, data.source, plan.source, "source"),
    ...wordMarks(moment, data.written, plan.written, "written"),
    ...lostMarks(moment),
    ...(data.training.length ? [text({
      text: "Reference translation, which the decoder is given", x: 0, size: SIZE.title,
      y: plan.bottom + plan.high + 12, fill: moment.theme.quiet,
    })] : []),
    ...endMarks(moment),
  ];
}

function placeOfQuery({ plan, kind }: Moment, query: number) {
  return kind.kind === "encoder_self" ? plan.source[query] : plan.written[query + 1];
}

function placeOfKey({ plan, kind }: Moment, key: number) {
  return kind.kind === "decoder_self" ? plan.written[key] : plan.source[key];
}

/** What joins two words in the band: a weight of the head that is watched, or a link. */
export interface Ribbon {
  query: number;
  key: number;
  weight: number;
  d: string; // its curve, as SVG writes it
  line: number;
  opacity: number;
  dash?: number[];
}

const ribbonMark = ({ kind, near }: Moment, { d, line, opacity, dash }: Ribbon) => path({
  d, stroke: kind.color, line: line + (d === near?.d ? 2 : 0),
  opacity: d === near?.d ? 1 : opacity, ...(dash ? { dash } : {}),
});

/** List what is drawn in the band: a step's ribbons, those of all rows, or the links of words. */
export function ribbonsOf(moment: Moment): Ribbon[] {
  const { data, plan, kind, head, step, part, all } = moment;
  if (linksShown(moment)) {
    return data.links.map((link) => {
      const { source, target, mutual, strength } = link;
      const quiet = moment.word && !belongs(link, moment.word);
      return {
        query: target, key: source, weight: strength,
        d: curve(moment, plan.source[source], plan.written[target + 1]),
        line: LINK.thinnest + Math.min(1, strength) * (LINK.widest - LINK.thinnest),
        opacity: quiet ? 0.1 : 0.85, ...(mutual ? {} : { dash: LINK.dash }),
      };
    });
  }
  if (isCrossed(moment, head)) return []; // it writes nothing any more
  if (!all) {
    const to = between(placeOfQuery(moment, Math.max(0, step - 1)), placeOfQuery(moment, step),
      part);
    return rowBetween(kind, head, step, part).flatMap((weight, key) => (weight < FAINTEST ? []
      : [{ query: step, key, ...ribbon(moment, placeOfKey(moment, key), to, weight),
        opacity: 0.3 + 0.6 * weight }]));
  }
  const map = mapBetween(kind, head, data.training.length ? step : 0, part);
  return map.flatMap((row, query) => row.flatMap((weight, key) => (weight < FAINTEST_OF_ALL ? []
    : [{ query, key, opacity: isQuiet(moment, query, key) ? 0.06 : 0.12 + 0.6 * weight,
      ...ribbon(moment, placeOfKey(moment, key), placeOfQuery(moment, query), weight) }])));
}

/** Test whether a word is pointed at that a ribbon does not touch. */
function isQuiet({ kind, word }: Moment, query: number, key: number) {
  const asks = kind.kind === "encoder_self" ? "source" : "written";
  const seen = kind.kind === "decoder_self" ? "written" : "source";
  if (!word || (word.side !== asks && word.side !== seen)) return false;
  const row = asks === "written" ? query + 1 : query;
  return !(word.side === asks && word.index === row) && !(word.side === seen && word.index === key);
}

export const isSame = (a: Head | null, b: Head | null) =>
  a?.kind === b?.kind && a?.layer === b?.layer && a?.head === b?.head;

export const isCrossed = ({ crossed }: Pick<Moment, "crossed">, head: Head) =>
  crossed.some((other) => isSame(other, head));

/** Test whether links between words are drawn, and not what one head looks at. */
export const linksShown = (
  { data, kind, all, shows }: Pick<Moment, "data" | "kind" | "all" | "shows">,
) => all && shows === "links" && kind.kind === "cross" && data.links.length > 0;

const belongs = ({ source, target }: PlayerData["links"][number], { side, index }: Word) =>
  (side === "source" ? source === index : target + 1 === index);

export const partnersOf = (
  { links, source, written }: PlayerData, word: Word,
): [word: string, strength: number][] =>
  links.filter((link) => belongs(link, word)).map((link) =>
    [word.side === "source" ? written[link.target + 1] : source[link.source], link.strength]);

const between = (from: Place, to: Place, part: number): Place => ({
  x: from.x + part * (to.x - from.x), y: from.y + part * (to.y - from.y),
  width: from.width + part * (to.width - from.width),
});

const ribbon = (moment: Moment, from: Place, to: Place, weight: number) => ({
  weight, d: curve(moment, from, to),
  line: RIBBON.thinnest + weight * (RIBBON.widest - RIBBON.thinnest),
});

/** Write the curve from a key to a query: across the band, or in one sentence a loop into it. */
function curve({ plan, kind }: Moment, from: Place, to: Place) {
  const [x0, x1] = [from.x + from.width / 2, to.x + to.width / 2].map(tidy);
  const band = plan.bottom - plan.top;
  if (kind.kind === "cross") {
    const [y0, y1] = [from.y + plan.high - 3, to.y + 3];
    const bend = tidy(0.5 * (y1 - y0));
    return `M${x0},${y0}C${x0},${y0 + bend} ${x1},${y1 - bend} ${x1},${y1}`;
  }
  const above = kind.kind === "decoder_self"; // the band lies over its words
  const [y0, y1] = above ? [from.y + 3, to.y + 3] : [from, to].map(({ y }) => y + plan.high - 3);
  const reach = Math.min(1, 0.35 + Math.abs(x1 - x0) / 420) * LOOP * band * 1.33;
  const bend = tidy(above ? -reach : reach);
  return `M${x0},${y0}C${x0},${y0 + bend} ${x1},${y1 + bend} ${x1},${y1}`;
}

function wordMarks(
  moment: Moment, texts: string[], places: Place[], side: "source" | "written",
): Mark[] {
  const { plan, theme, kind, step, all, part } = moment;
  const query = all ? null : placeOfQuery(moment, step);
  const isGone = all || isCrossed(moment, moment.head);
  const key = isGone ? null
    : placeOfKey(moment, strongest(rowBetween(kind, moment.head, step, 1)));
  return places.flatMap((place, n) => {
    const here = place === query;
    const later = side === "written" && !all && kind.kind !== "encoder_self" && n > step + 1;
    if (later) return [];
    const special = SPECIAL.has(texts[n]);
    const coming = side === "written" && here ? part : 1;
    const strong = here || place === key;
    const isNew = side === "written" && plan.added.has(n);
    const y = place.y + plan.high / 2;
    return [
      text({
        text: isolate(texts[n]), x: place.x + place.width / 2, y,
        middle: true, anchor: "middle", size: plan.font, weight: strong || isNew ? 600 : 400,
        fill: special ? theme.quiet : theme.ink,
        opacity: coming * (special ? 0.7 : 1),
      }),
      ...(here ? [rect({
        x: place.x, y: place.y + plan.high - 4, width: place.width, height: 3, fill: kind.color,
        opacity: coming,
      })] : []),
      ...(here && side === "written" && part < 1 ? [rect({
        x: place.x + coming * place.width + 2, y: place.y + 5, width: 2, height: plan.high - 10,
        fill: theme.ink,
      })] : []),
    ];
  });
}

/** Strike out the words of the original translation that it lost without some heads. */
const lostMarks = ({ plan, theme }: Moment): Mark[] => plan.lost.flatMap((place) => {
  const { x, width } = place;
  const y = place.y + plan.high / 2;
  return [
    text({ text: isolate(place.text), x: x + width / 2, y, middle: true, anchor: "middle",
      size: plan.font, fill: theme.quiet }),
    rect({ x, y: y - 0.5, width, height: 1.5, fill: theme.quiet }),
  ];
});

export function barMarks({ data, plan, theme, measure, kind, step, all, part }: Moment): Mark[] {
  if (!plan.bars || all || kind.kind === "encoder_self") return [];
  const { width } = plan.bars;
  const { options, taken } = data.steps[step];
  const [word, number] = [0.42 * width, 40];
  const most = options.flatMap(({ label, p }, n): Mark[] => {
    const y = BARS.title + (n + 0.5) * BARS.row;
    const fill = n === taken ? theme.ink : theme.quiet;
    const bar = { x: word, y: y - 5, width: width - word - number, height: 10 };
    const right = { y, middle: true, anchor: "end", fill } as const;
    return [
      text({
        ...right, x: word - 8, size: SIZE.bar + 1, weight: n === taken ? 600 : 400,
        text: isolate(shortened(label, word - 10, (t) => measure(t, SIZE.bar + 1, 600))),
      }),
      rect({ ...bar, fill: theme.ink, opacity: 0.09 }),
      rect({ ...bar, width: bar.width * p * part, fill, opacity: n === taken ? 0.9 : 0.5 }),
      text({ ...right, text: digits(p), x: width, size: SIZE.bar }),
    ];
  });
  const line = { x: 0, size: SIZE.title, fill: theme.quiet };
  return [
    text({ ...line, text: "The next subword, by probability", y: 12 }),
    ...most,
  ];
}

function endMarks(
  { data: { training }, plan, theme, kind, head: { layer, head } }: Moment,
): Mark[] {
  if (!plan.ends) return [];
  const { x, y, side } = plan.ends;
  const [queries, keys] = kind.size;
  const cell = side / Math.max(queries, keys);
  return [0, training.length - 1].flatMap((step, n) => {
    const place = {
      x: x + n * (side + ENDS.gap), y: y + ENDS.title, width: keys * cell, height: queries * cell,
    };
    const level = (at: number) => Math.round(
      255 * weightOf(kind, step, layer, head, Math.floor(at / keys), at % keys));
    return [
      text({
        text: `${n ? "" : `L${layer + 1} H${head + 1} · `}step ${
          training[step].number.toLocaleString("en")}`,
        x: place.x, y: y + 13, size: SIZE.title, fill: theme.quiet,
      }),
      picture({ ...place, raster: rasterOf(keys, queries, kind.palette[theme.name], level) }),
      rect({ ...place, stroke: theme.line, line: 1 }),
    ];
  });
}

export function tileMarks(
  moment: Moment & { tiles: Tile[]; outlined: Head | null },
): Mark[] {
  const { data, kind, theme, tiles, step, part, all, outlined } = moment;
  const [queries, keys] = kind.size;
  const rows = all ? queries : 1;
  const raster = { ...blank(kind.heads * keys, kind.layers * rows), owner: tiles };
  const colors = kind.palette[theme.name];
  const now = data.training.length ? step : 0;
  const before = data.training.length ? Math.max(0, step - 1) : 0;
  for (const { layer, head } of tiles) {
    for (let row = 0; row < rows; row++) {
      const query = all ? row : step;
      for (let key = 0; key < keys; key++) {
        const to = weightOf(kind, now, layer, head, query, key);
        const from = all ? weightOf(kind, before, layer, head, query, key)
          : query ? weightOf(kind, 0, layer, head, query - 1, key) : 0;
        const at = (layer * rows + row) * raster.width + head * keys + key;
        setPixel(raster.pixels, 4 * at, colors, Math.round(255 * (from + part * (to - from))));
      }
    }
  }
  const named = tiles.filter(({ head }) => head === 0);
  return [
    ...tiles.filter(({ layer }) => layer === 0).map(({ x, width, head }) => text({
      text: `H${head + 1}`, x: x + width / 2, y: TILE.head - 5, anchor: "middle", size: 11,
      fill: theme.quiet,
    })),
    ...named.map(({ y, height, layer }) => text({
      text: `L${layer + 1}`, x: 0, y: y + height / 2 + 0.5, middle: true, size: 11,
      fill: theme.quiet,
    })),
    ...tiles.flatMap(({ layer, head, x, y, width, height }) => {
      const isRemoved = isCrossed(moment, { kind: kind.kind, layer, head });
      return [
        ...(rows && keys ? [picture({
          raster, x, y, width, height, part: [head * keys, layer * rows, keys, rows],
          opacity: isRemoved ? 0.25 : 1,
        })] : []),
        ...(isRemoved ? [path({
          d: `M${x},${y}L${x + width},${y + height}M${x},${y + height}L${x + width},${y}`,
          stroke: theme.ink, line: 1.5,
        })] : []),
        ...(isSame(outlined, { kind: kind.kind, layer, head }) ? [rect({
          x: x - 1.5, y: y - 1.5, width: width + 3, height: height + 3, stroke: theme.ink,
          line: 2.5,
        })] : []),
      ];
    }),
  ];
}
