// The words of a sentence, those of its translation, and a link between two that belong together,
// as wide and as strong as its strength. A word that is pointed at keeps its partners in full ink.

import { tableOf } from "../core/dom.js";
import { PictureView } from "../core/picture_view.js";
import { digits, quote } from "../core/text.js";
import { OTHER, linksOf, same } from "./data.js";
import { linkMarks } from "./marks.js";
import { hitLinks, leftwardOf, planLinks } from "./plan.js";

/** @import { Visible } from "../core/picture_view.js" */
/** @import { LinkData, Token } from "./data.js" */
/** @import { LinkPlan } from "./plan.js" */

/** The arrows along a line that runs to the left. @type {Record<string, string>} */
const TURNED = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" };
const TALLEST_COLUMNS = 1600; // more than fifty words, as they stand on a phone, scroll
const HELP = "The arrow keys move along a sentence, and to a partner in the other one; Enter pins "
  + "a word, Escape lets it go.";

/** @extends {PictureView<LinkData, Token, LinkPlan>} */
export class WordLinks extends PictureView {
  constructor() {
    super();
    this.scroll.classList.add("hl-words");
    this.scroll.addEventListener("click", (event) => this.under(event) ?? this.pin(null));
    /** @type {Token | null} */
    this.pinned = null;
    this.picks = true;
  }

  update() {
    const { source, target, languages, title, note } = this.data;
    if (this.setTexts([source, target])) this.at = this.pinned = null;
    this.setLabel(title, HELP);
    this.note.textContent = note;
    this.table.replaceChildren(
      ...tableOf(title, [...languages, "Strength"], pairRows(this.data)));
  }

  /** @param {number} width */
  arrange(width) {
    this.fit((room) => planLinks(this.data, room, this.measure), width, TALLEST_COLUMNS);
  }

  /** @param {Visible} visible */
  marks(visible) {
    return linkMarks(this.scene(visible, this.at, this.pinned));
  }

  /** @param {Visible} visible @param {Token | null} at @param {Token | null} pinned */
  scene(visible, at, pinned) {
    const { data, plan, theme, measure } = this;
    return { data, plan, theme, measure, at, pinned, shown: at ?? pinned, visible };
  }

  /** Save the picture with the pinned word; nothing is pointed at. */
  sheet() {
    const { data: { title, madeBy, note }, plan: { width, height } } = this;
    return {
      name: "word links", title, note, lines: [madeBy],
      marks: linkMarks(this.scene({ x: 0, y: 0, width, height }, null, this.pinned)),
    };
  }

  /** @param {number} x @param {number} y */
  hit(x, y) {
    return hitLinks(this.plan, x, y);
  }

  /** @param {Token} token */
  pick(token) {
    this.pin(same(token, this.pinned) ? null : token);
  }

  /** @param {Token | null} token null lets go, and nothing is pointed at then: so a tap sees it */
  pin(token) {
    this.pinned = token;
    if (!token) this.at = null;
    this.draw();
  }

  /** @param {string} key */
  press(key) {
    const at = this.at ?? this.pinned;
    if (key === "Escape") this.pin(null);
    else if ((key === "Enter" || key === " ") && at) {
      this.pick(at);
      this.live.textContent =
        `${quote(this.data[at.side][at.index])} ${this.pinned ? "pinned" : "let go"}`;
    } else return super.press(key);
    return true;
  }

  /** @param {string} key */
  target(key) {
    const { data, plan: { columns } } = this;
    const at = this.at ?? this.pinned;
    const leftward = at && !columns && leftwardOf(data)[at.side];
    return moved(at, leftward ? TURNED[key] ?? key : key, data, columns);
  }

  /** @param {Token} at */
  sentence(at) {
    return sentence(this.data, at);
  }

  /** @param {Token} at */
  boxOf({ side, index }) {
    const { x, y, width, height } = this.plan.places[side][index];
    return { left: x, top: y, right: x + width, bottom: y + height };
  }

  /** Add a line above the word and a line below it. @param {Token} at */
  roomOf(at) {
    const { left, top, right, bottom } = this.boxOf(at);
    return { left, top: 2 * top - bottom, right, bottom: 2 * bottom - top };
  }

  /** Show the whole of a word that is cut. @param {Token} at */
  tipNodes({ side, index }) {
    const word = this.data[side][index];
    return this.plan.places[side][index].text === word ? null : [word];
  }
}

/**
 * Find the word that a key leads to: along its sentence, or its strongest partner; from a word
 * without partner, the word of the same number.
 * @param {Token | null} at
 * @param {string} key
 * @param {Pick<LinkData, "source" | "target" | "links">} data
 * @param {boolean} columns whether a sentence runs down, not across
 * @returns {Token | undefined}
 */
export function moved(at, key, data, columns) {
  const arrows = { ArrowLeft: 1, ArrowRight: 1, ArrowUp: 1, ArrowDown: 1 };
  if (!at) {
    return key in arrows || key === "Home" ? { side: "source", index: 0 } : undefined;
  }
  const { side, index } = at;
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
  /** @type {Record<string, Token>} */
  const moves = {
    [back]: { side, index: Math.max(0, index - 1) },
    [on]: { side, index: Math.min(last, index + 1) },
    [toSource]: side === "target" ? partner : at,
    [toTarget]: side === "source" ? partner : at,
    Home: { side, index: 0 },
    End: { side, index: last },
  };
  return moves[key];
}

const NONE = "no partner";

/**
 * A row for each pair in the order of the translation, then the words that are left over.
 * @param {LinkData} data
 * @returns {string[][]} word of the source, of the translation, and strength
 */
export function pairRows(data) {
  const { source, target } = data;
  const rows = target.flatMap((word, index) => {
    const partners = linksOf(data, { side: "target", index });
    return partners.length
      ? partners.map((link) => [source[link.source], word, digits(link.strength)])
      : [["", word, NONE]];
  });
  const linked = new Set(data.links.map((link) => link.source));
  const left = source.flatMap((word, index) => (linked.has(index) ? [] : [[word, "", NONE]]));
  return [...rows, ...left];
}

/**
 * Describe the word under the cursor for a screen reader.
 * @param {LinkData} data
 * @param {Token} token
 */
function sentence(data, token) {
  const { side, index } = token;
  const partners = linksOf(data, token).map((link) =>
    `${quote(data[OTHER[side]][link[OTHER[side]]])} ${digits(link.strength)}`);
  return `${quote(data[side][index])}: ${partners.join(", ") || NONE}`;
}
