// The words of a sentence, those of its translation, and a link between two that belong together,
// as wide and as strong as its strength. A word that is pointed at keeps its partners in full ink.

import { ARROWS, boxAt, fillTable } from "../core/dom.ts";
import { PictureView, type Scene } from "../core/picture_view.ts";
import { type Mark, path, rect, text } from "../core/scene.ts";
import { digits, isolate, quote, tidy } from "../core/text.ts";
import { linkData } from "./from_trace.ts";
import {
  BAR, leftwardOf, type Link, type LinkData, type LinkPlan, linksOf, NUMBER, OTHER, planLinks, same,
  type Side, SIDES, type Token, type WordPlace as Place,
} from "./plan.ts";

const FADED = { word: 0.38, link: 0.08 };
const STROKE = { thinnest: 1.25, widest: 7 };
const NONE = "no partner";
const DASH = [7, 5]; // of a link that does not hold both ways
const AIR = 3; // between a word and its links
const EDGE = 8; // between a word and its number in a column
const TRACK = 0.16; // opacity of a bar of 1

type LinkScene = Scene<LinkData, LinkPlan, Token> & Pick<WordLinks, "pinned">
  & { shown: Token | null }; // whose partners are shown; all are alike where there is none

export function linkMarks(scene: LinkScene): Mark[] {
  const { data, shown } = scene;
  const own = shown ? linksOf(data, shown) : [];
  const others = data.links.filter((link) => !own.includes(link));
  return [
    ...strokes(scene, others, shown ? FADED.link : 1),
    ...strokes(scene, own, 1),
    ...words(scene, "source", own),
    ...words(scene, "target", own),
  ];
}

function strokes({ data, plan }: LinkScene, links: Link[], opacity: number) {
  // a strength is a share of 1; one that is none is drawn as the share of the largest
  const whole = Math.max(1, ...data.links.map(({ strength }) => strength));
  return [...links].sort((a, b) => a.strength - b.strength).map((link) => {
    const share = link.strength / whole;
    return path({
      d: curve(plan, plan.places.source[link.source], plan.places.target[link.target]),
      stroke: data.color, line: STROKE.thinnest + share * (STROKE.widest - STROKE.thinnest),
      opacity: opacity * (0.3 + 0.65 * share), ...(link.mutual ? {} : { dash: DASH }),
    });
  });
}

function curve({ columns, bend }: LinkPlan, source: Place, target: Place) {
  const [x0, y0, x1, y1] = (columns
    ? [source.x + source.width - AIR, source.y + source.height / 2, target.x + AIR,
      target.y + target.height / 2]
    : [source.x + source.width / 2, source.y + source.height - AIR, target.x + target.width / 2,
      target.y + AIR]).map(tidy);
  const [dx, dy] = columns ? [bend, 0] : [0, bend];
  return `M${x0},${y0}C${tidy(x0 + dx)},${tidy(y0 + dy)} ${tidy(x1 - dx)},${tidy(y1 - dy)} `
    + `${x1},${y1}`;
}

function words(scene: LinkScene, side: Side, own: Link[]): Mark[] {
  const { data, plan, theme, at, pinned, shown } = scene;
  const linked = new Set(data.links.map((link) => link[side]));
  return plan.places[side].flatMap((place, index) => {
    const token = { side, index };
    const isShown = same(token, shown);
    const link = shown?.side === OTHER[side]
      ? own.find((partner) => partner[side] === index) : undefined;
    const full = !shown || isShown || link;
    return [
      // a link from one pair of lines to the next runs behind the words
      ...(plan.many ? [rect({ ...boxOf(place), fill: theme.paper })] : []),
      ...(same(token, at) ? [rect({ ...boxOf(place), fill: theme.ink, opacity: 0.08 })] : []),
      ...(same(token, pinned) ? [stem(scene, place, side)] : []),
      text({
        ...textAt(scene, place, side), text: isolate(place.text), size: plan.font, middle: true,
        weight: shown && full ? 600 : 400, fill: linked.has(index) ? theme.ink : theme.quiet,
        opacity: full ? 1 : FADED.word,
      }),
      ...(link ? [numberAt(scene, place, side, link.strength)] : []),
      ...(data.shares ? shareBar(scene, token, full ? 1 : FADED.word) : []),
    ];
  });
}

function shareBar({ data, plan, theme }: LinkScene, { side, index }: Token, opacity: number) {
  const { x, y, width, height } = plan.places[side][index];
  const share = data.shares?.[side][index] ?? 0;
  const free = width - BAR.width;
  const left = !plan.columns ? free / 2 : side === "source" ? free - EDGE : EDGE;
  const box = { x: x + left, y: y + height - BAR.room, height: BAR.height, fill: theme.ink };
  return [
    rect({ ...box, width: BAR.width, opacity: TRACK }),
    rect({ ...box, width: share * BAR.width, opacity }),
  ];
}

const boxOf = ({ x, y, width, height }: Place) => ({ x, y: y + 1, width, height: height - 2 });

function textAt(
  { data, plan: { columns } }: LinkScene, { x, y, width, height }: Place, side: Side,
) {
  const middle = y + (height - (data.shares ? BAR.room : 0)) / 2 + 0.5;
  if (!columns) return { x: x + width / 2, y: middle, anchor: "middle" } as const;
  return side === "source"
    ? { x: x + width - EDGE, y: middle, anchor: "end" } as const
    : { x: x + EDGE, y: middle, anchor: "start" } as const;
}

function numberAt(scene: LinkScene, place: Place, side: Side, strength: number) {
  const { plan, theme, measure } = scene;
  const { x, y, width, height } = place;
  const written = { text: digits(strength), size: NUMBER.font, middle: true, fill: theme.ink };
  if (plan.columns) {
    const away = 0.5 * EDGE + measure(place.text, plan.font, 600);
    const { x: edge, ...rest } = textAt(scene, place, side);
    return text({ ...written, ...rest, x: side === "source" ? edge - away : edge + away });
  }
  const outside = side === "source" ? y - NUMBER.height / 2 : y + height + NUMBER.height / 2;
  return text({ ...written, x: x + width / 2, y: outside, anchor: "middle" });
}

function stem({ plan, theme }: LinkScene, { x, y, width, height }: Place, side: Side) {
  const first = side === "source";
  const box = plan.columns
    ? { x: first ? x : x + width - 3, y: y + 3, width: 3, height: height - 6 }
    : { x: x + 2, y: first ? y - 1 : y + height - 2, width: width - 4, height: 3 };
  return rect({ ...box, fill: theme.ink });
}

const TURNED: Record<string, string> = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };
const TALLEST_COLUMNS = 1600; // more than fifty words, as they stand on a phone, scroll
const HELP = "The arrow keys move along a sentence, and to a partner in the other one; Enter pins "
  + "a word, Escape lets it go.";

export class WordLinks extends PictureView<LinkData, Token, LinkPlan> {
  static read({ trace, about, ...choices }: any): LinkData {
    return linkData(trace, about, choices);
  }

  pinned: Token | null = null;
  picks = true;

  constructor() {
    super();
    this.scroll.addEventListener("click", (event) => this.under(event) ?? this.pin(null));
  }

  update() {
    const { source, target, languages, title, note } = this.data;
    if (this.setTexts([source, target])) this.at = this.pinned = null;
    this.describe(title, HELP, note);
    const columns = [...languages, "Strength", ...(this.data.shares ? SHARES : [])];
    fillTable(this.table, title, columns, pairRows(this.data));
  }

  arrange(width: number) {
    this.fit((room) => planLinks(this.data, room, this.measure), width, TALLEST_COLUMNS);
  }

  marks(at: Token | null) {
    return linkMarks({ ...this.scene(at), pinned: this.pinned, shown: at ?? this.pinned });
  }

  sheet() {
    const { madeBy } = this.data; // the map that the links are read from
    return { name: `word links ${madeBy}`, lines: [madeBy] };
  }

  hit(x: number, y: number) {
    for (const side of SIDES) {
      const index = this.plan.places[side].findIndex((place) => x >= place.x
        && x < place.x + place.width && y >= place.y && y < place.y + place.height);
      if (index >= 0) return { side, index };
    }
    return null;
  }

  pick(token: Token) {
    this.pin(same(token, this.pinned) ? null : token);
  }

  /** @param token null lets go, and nothing is pointed at then: so a tap sees it */
  pin(token: Token | null) {
    this.pinned = token;
    if (!token) this.at = null;
    this.draw();
  }

  press(key: string) {
    const at = this.at ?? this.pinned;
    if (key === "Escape") this.pin(null);
    else if ((key === "Enter" || key === " ") && at) {
      this.pick(at);
      this.live.textContent =
        `${quote(this.data[at.side][at.index])} ${this.pinned ? "pinned" : "let go"}`;
    } else return super.press(key);
    return true;
  }

  /** Find the word that a key leads to: along its sentence, or its strongest partner; from a word
   * without partner, the word of the same number. */
  target(pressed: string) {
    const { data, plan: { columns } } = this;
    const at = this.at ?? this.pinned;
    const start: Token = { side: "source", index: 0 };
    if (!at) return pressed in ARROWS || pressed === "Home" ? start : null;
    const { side, index } = at;
    const key = !columns && leftwardOf(data)[side] ? TURNED[pressed] ?? pressed : pressed;
    const last = data[side].length - 1;
    const other = OTHER[side];
    const [strongest] = linksOf(data, at);
    const partner = {
      side: other,
      index: strongest ? strongest[other] : Math.min(index, data[other].length - 1),
    };
    const [back, on, toSource, toTarget] = columns
      ? ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"]
      : ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
    const moves: Record<string, Token> = {
      [back]: { side, index: Math.max(0, index - 1) },
      [on]: { side, index: Math.min(last, index + 1) },
      [toSource]: side === "target" ? partner : at,
      [toTarget]: side === "source" ? partner : at,
      Home: { side, index: 0 },
      End: { side, index: last },
    };
    return moves[key];
  }

  sentence(at: Token) {
    const [{ data }, { side, index }] = [this, at];
    const partners = linksOf(data, at).map((link) =>
      `${quote(data[OTHER[side]][link[OTHER[side]]])} ${strengthOf(link)}`);
    const shares = data.shares ? ` · ${shareText(data, at)}` : "";
    return `${quote(data[side][index])}: ${partners.join(", ") || NONE}${shares}`;
  }

  boxOf({ side, index }: Token) {
    const { x, y, width, height } = this.plan.places[side][index];
    return boxAt(x, y, width, height);
  }

  roomOf(at: Token) {
    const { left, top, right, bottom } = this.boxOf(at);
    return { left, top: 2 * top - bottom, right, bottom: 2 * bottom - top };
  }

  tipNodes({ side, index }: Token) {
    const word = this.data[side][index];
    if (this.data.shares) return [`${quote(word)} ${shareText(this.data, { side, index })}`];
    return this.plan.places[side][index].text === word ? null : [word];
  }
}

const strengthOf = ({ strength, mutual }: Link) => `${digits(strength)}${mutual ? "" : ", dashed"}`;

/** Columns of the table. */
export const SHARES = ["Used", "From the source", "Cross-attention on sinks"];

function shareText({ shares }: LinkData, { side, index }: Token) {
  if (!shares) return "";
  const share = digits(shares[side][index]);
  return side === "source" ? `used ${share}`
    : `${share} from the source, cross-attention ${digits(shares.onSinks[index])} on sinks`;
}

/** A row for each pair in the order of the translation, then the words that are left over.
 * @returns word of the source, of the translation, and strength; then the shares */
export function pairRows(data: LinkData): string[][] {
  const { source, target, shares } = data;
  /** @param n number of a word, -1 for none */
  const share = (values: ArrayLike<number>, n: number) => (n < 0 ? "" : digits(values[n]));
  const sharesOf = (read: number, written: number) => (shares ? [share(shares.source, read),
    share(shares.target, written), share(shares.onSinks, written)] : []);
  const rows = target.flatMap((word, index) => {
    const partners = linksOf(data, { side: "target", index });
    return partners.length
      ? partners.map((link) => [
        source[link.source], word, strengthOf(link), ...sharesOf(link.source, index),
      ]) : [["", word, NONE, ...sharesOf(-1, index)]];
  });
  const linked = new Set(data.links.map((link) => link.source));
  const left = source.flatMap((word, index) => (linked.has(index)
    ? [] : [[word, "", NONE, ...sharesOf(index, -1)]]));
  return [...rows, ...left];
}
