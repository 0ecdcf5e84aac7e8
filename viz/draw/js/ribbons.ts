// The ribbons: what looks stands on the left, what is looked at on the right, and a ribbon
// between two words is as wide and as strong as the weight. Several heads lie over each other. All
// ribbons together are a layer that is drawn once; those of one token are drawn at each change.

import { choice, fillTable, make } from "./core/dom.ts";
import { EDGE, PictureView, TALLEST } from "./core/picture_view.ts";
import { group, path, rect, text } from "./core/scene.ts";
import { isolate, looksMost, number, quote, tidy, within } from "./core/text.ts";

/** @import { Scene } from "./core/picture_view.ts" */
/** @import { Group, Mark, Place } from "./core/scene.ts" */
/** @import { Measure } from "./core/theme.ts" */

/** @typedef {"queries" | "keys"} Side */
/** A word of one of the two lists. @typedef {{side: Side, index: number}} Token */

/**
 * @typedef {object} RibbonData the message of `encode_ribbons` in viz/draw/ribbons.py
 * @property {string} kind
 * @property {string[]} heads their names
 * @property {{light: string[], dark: string[]}} colors of the heads
 * @property {string} rows the name of what stands on the left
 * @property {string} columns
 * @property {string} note
 * @property {string} [amount] how a ribbon's width is called, where it is no weight
 * @property {number} from weights of less get no ribbon
 * @property {string[]} queries
 * @property {string[]} keys
 * @property {string[] | null} rowNames what the decoder reads and writes at each query
 * @property {Float32Array} weights `[head, query, key]`
 */

/** @type {Record<Side, Side>} */
const OTHER = { queries: "keys", keys: "queries" };

/** @param {RibbonData} data @param {number} head @param {number} query @param {number} key */
const weightOf = ({ queries, keys, weights }, head, query, key) =>
  weights[(head * queries.length + query) * keys.length + key];

/** Sort a token and a token of the other side into query and key.
 * @param {Token} token @param {{index: number}} other @returns {[query: number, key: number]} */
const pair = (token, other) =>
  (token.side === "queries" ? [token.index, other.index] : [other.index, token.index]);

/** @typedef {{head: number, query: number, key: number, weight: number}} Ribbon */

/**
 * The weights that are drawn as ribbons, the largest last and so on top.
 * @param {RibbonData} data
 * @param {number[]} on the heads that are switched on
 * @param {Token | null} token whose ribbons they are; all ribbons by default
 * @returns {Ribbon[]}
 */
export function ribbonsOf(data, on, token) {
  /** @param {Side} side */
  const span = (side) => (token?.side === side ? [token.index] : [...data[side].keys()]);
  const [queries, keys] = [span("queries"), span("keys")];
  const ribbons = [];
  for (const head of on) {
    for (const query of queries) {
      for (const key of keys) {
        const weight = weightOf(data, head, query, key);
        if (weight >= data.from) ribbons.push({ head, query, key, weight });
      }
    }
  }
  return ribbons.sort((a, b) => a.weight - b.weight);
}

const ROW = { largest: 28, smallest: 16 };
const LETTERS = { largest: 14, smallest: 11 };
const RIBBONS = { widest: 14, least: 96 }; // a weight of 1, and the room between the lists
const EXACT = "0.0000"; // the widest number beside a word
const STEM = 6; // the mark beside a word that is picked

/**
 * @typedef {object} RibbonPlan
 * @property {number} row height of one
 * @property {number} font size of the letters
 * @property {number} left where the ribbons begin
 * @property {number} right where they end
 * @property {number} column width of a number
 * @property {number} numbers how many stand beside a word
 * @property {number} lane height of a head's part of a row
 * @property {number} width
 * @property {number} height
 */

/**
 * @param {{queries: string[], keys: string[]}} data
 * @param {number} count of heads that are on
 * @param {number} width of the frame
 * @param {Measure} measure
 * @returns {RibbonPlan}
 */
export function planRibbons({ queries, keys }, count, width, measure) {
  // the bold of a picked word is the widest
  /** @param {string} word */
  const wideOf = (word) => measure(word, LETTERS.largest, 600);
  const rows = Math.max(queries.length, keys.length);
  const row = within(Math.floor(TALLEST / rows), ROW.smallest, ROW.largest);
  const font = within(Math.floor(row * 0.68), LETTERS.smallest, LETTERS.largest);
  const scale = font / LETTERS.largest;
  /** @param {string[]} words */
  const room = (words) => Math.ceil(Math.max(...words.map(wideOf)) * scale) + EDGE + STEM;
  const left = room(queries);
  const wide = Math.max(width, left + RIBBONS.least + room(keys));
  const right = wide - room(keys);
  const column = Math.ceil(wideOf(EXACT) * scale) + EDGE;
  // numbers of all heads side by side where the ribbons keep some room, else the largest alone
  const all = right - left - count * column >= RIBBONS.least / 2;
  const lane = Math.min(RIBBONS.widest, (row * 0.8) / Math.max(1, count));
  return {
    row, font, left, right, column, lane, numbers: all ? count : 1,
    width: wide, height: rows * row,
  };
}

/**
 * Find the middle of a head's lane in a row.
 * @param {RibbonPlan} plan
 * @param {number} index of the row
 * @param {number} nth of the heads that are on
 * @param {number} count of these
 */
export const laneAt = ({ row, lane }, index, nth, count) =>
  (index + 0.5) * row + (nth - (count - 1) / 2) * lane;

const FADED = 0.68; // of a number whose ribbon is too faint to be drawn
const GAP = 4; // between a list and its ribbons

/**
 * @typedef {object} Choice
 * @property {string[]} colors of the heads
 * @property {number[]} on the heads that are drawn
 * @property {Token | null} picked
 * @property {Token | null} shown whose ribbons are drawn; those of all where there is none
 * @property {Mark} ribbons
 * @property {Place} visible
 *
 * @typedef {Scene<RibbonData, RibbonPlan, Token> & Choice} RibbonScene
 */

/** @param {RibbonScene} scene @returns {Mark[]} */
export const ribbonMarks = (scene) => [
  scene.ribbons,
  ...wordMarks(scene, "queries"),
  ...wordMarks(scene, "keys"),
  ...(scene.shown ? numberMarks(scene, scene.shown) : []),
  ...pointed(scene),
];

/**
 * @param {Pick<RibbonScene, "plan" | "colors" | "on" | "shown">} scene
 * @param {Ribbon[]} ribbons
 * @returns {Group}
 */
export function curveMarks({ plan, colors, on, shown }, ribbons) {
  const room = plan.numbers * plan.column;
  const left = tidy(plan.left + GAP + (shown?.side === "keys" ? room : 0));
  const right = tidy(plan.right - GAP - (shown?.side === "queries" ? room : 0));
  const middle = tidy((left + right) / 2);
  // a few ribbons can each be strong, thousands must not hide the strong ones in a haze
  const faint = shown ? 0.25 : within(20 / ribbons.length, 0.005, 0.08);
  const marks = ribbons.map(({ head, query, key, weight }) => {
    const nth = on.indexOf(head);
    const from = tidy(laneAt(plan, query, nth, on.length));
    const to = tidy(laneAt(plan, key, nth, on.length));
    return path({
      d: `M${left},${from}C${middle},${from} ${middle},${to} ${right},${to}`,
      stroke: colors[head], line: Math.max(0.75, weight * plan.lane),
      opacity: faint + (0.95 - faint) * weight,
    });
  });
  return group(marks, shown ? {} : { layer: [plan.width, plan.height] });
}

/** @param {RibbonScene} scene @param {Side} side @returns {Mark[]} */
function wordMarks({ data, plan, theme, at, picked, visible }, side) {
  const onLeft = side === "queries";
  return data[side].flatMap((token, index) => {
    if (!inFrame(plan, visible, index)) return [];
    const strong = is(at, side, index) || is(picked, side, index);
    return [text({
      text: isolate(token), x: onLeft ? plan.left - EDGE : plan.right + EDGE,
      y: (index + 0.5) * plan.row + 0.5, size: plan.font, weight: strong ? 600 : 400,
      anchor: onLeft ? "end" : "start", middle: true, fill: theme.ink,
    })];
  });
}

/** Write the exact weights of the shown token beside each token of the other side.
 * @param {RibbonScene} scene @param {Token} shown @returns {Mark[]} */
function numberMarks({ data, plan, theme, measure, colors, on, visible }, shown) {
  const toKeys = shown.side === "queries";
  const first = toKeys ? plan.right - plan.numbers * plan.column : plan.left;
  return data[toKeys ? "keys" : "queries"].flatMap((_, index) => {
    if (!inFrame(plan, visible, index)) return [];
    const [query, key] = toKeys ? [shown.index, index] : [index, shown.index];
    const all = on.map((head) => ({ head, weight: weightOf(data, head, query, key) }));
    // where there is no room, the largest alone
    const written = plan.numbers === all.length ? all
      : [all.reduce((a, b) => (b.weight > a.weight ? b : a))];
    return written.flatMap(({ head, weight }, nth) => {
      const right = first + (nth + 1) * plan.column - 2;
      const middle = (index + 0.5) * plan.row;
      const words = weight > 0 && weight < 0.00005 ? "≈ 0" : number(weight);
      // a stroke of the head's colour under its number, which is in ink so that it can be read
      const figures = text({
        text: words, x: right, y: middle + 0.5, size: plan.font, anchor: "end", middle: true,
        fill: theme.ink, opacity: weight < data.from ? FADED : 1,
      });
      if (on.length < 2 || weight < data.from) return [figures];
      const width = measure(words, plan.font, 400);
      return [figures, rect({
        x: right - width, y: middle + plan.font / 2, width, height: 2, fill: colors[head],
      })];
    });
  });
}

/** Draw a stem beside the picked token, and a frame around the token under the pointer.
 * @param {RibbonScene} scene @returns {Mark[]} */
function pointed({ plan, theme, at, picked }) {
  const [start, end] = at?.side === "queries" ? [0, plan.left] : [plan.right, plan.width];
  return [
    ...(picked ? [rect({
      x: picked.side === "queries" ? plan.left - STEM / 2 : plan.right,
      y: picked.index * plan.row + 3, width: STEM / 2, height: plan.row - 6, fill: theme.ink,
    })] : []),
    ...(at ? [rect({
      x: start, y: at.index * plan.row, width: end - start, height: plan.row, fill: theme.ink,
      opacity: 0.07,
    })] : []),
  ];
}

/** @param {RibbonPlan} plan @param {Place} visible @param {number} index */
const inFrame = ({ row }, { y, height }, index) =>
  (index + 1) * row >= y && index * row <= y + height;

/** @param {Token | null} token @param {Side} side @param {number} index */
const is = (token, side, index) => token?.side === side && token.index === index;

const HELP = "Up and down move over the words, left and right change sides, Enter picks a word, "
  + "Escape lets it go.";

/** @extends {PictureView<RibbonData, Token, RibbonPlan>} */
export class Ribbons extends PictureView {
  /** @param {import("./core/wire.ts").Message} message @returns {RibbonData} */
  static read({ meta, arrays }) {
    return { ...meta, weights: arrays.weights };
  }

  constructor() {
    super();
    this.switches = make("fieldset", { class: "hl-switches", "aria-label": "Heads" });
    this.axes = make("div", { class: "hl-axes" });
    this.root.prepend(this.switches, this.axes);
    this.dot = make("span", { class: "hl-dot" });
    /** @type {HTMLInputElement[]} */
    this.inputs = [];
    /** @type {Set<string>} */
    this.off = new Set(); // kind and name, so that a head stays off when another sentence comes
    /** @type {Token | null} */
    this.picked = null;
    this.named = ""; // which heads the switches are of
    /** @type {number[]} */
    this.on = [];
    /** @type {import("./core/scene.ts").Group | null} */
    this.all = null; // ribbons of all tokens, made when they are needed
  }

  update() {
    const { data } = this;
    // another sentence, other words
    if (this.setTexts([data.kind, data.queries, data.keys])) this.at = this.picked = null;
    this.describe(`Ribbons of ${data.heads.join(", ")}`, HELP, data.note);
    this.axes.replaceChildren(...axes(data).map(([side, words]) =>
      make("div", {}, make("span", {}, side), make("span", {}, words))));
    this.showSwitches();
    fillTable(this.table, `Where ${looksMost(data.amount)}`, [data.rows, ...data.heads],
      data.queries.map((token, index) => [token, ...data.heads.map((_, head) =>
        strongest(data, head, { side: "queries", index }).join(" "))]));
  }

  /** One switch for each head; they are made anew only for other heads, so they keep the focus. */
  showSwitches() {
    const { heads } = this.data;
    const ids = heads.map((name) => this.idOf(name));
    for (const id of this.off) if (!ids.includes(id)) this.off.delete(id); // taken away: comes on
    if (ids.join("\n") === this.named) return;
    this.named = ids.join("\n");
    const choices = (heads.length > 1 ? ids : []).map((id, head) => {
      const { input, label } = choice({ type: "checkbox" }, make("span", {}, heads[head]));
      input.checked = !this.off.has(id);
      input.addEventListener("change", () => {
        this.off[input.checked ? "delete" : "add"](id);
        this.layOut();
      });
      return { input, label };
    });
    this.inputs = choices.map(({ input }) => input);
    // a head alone cannot be switched off
    this.switches.replaceChildren(...(heads.length > 1 ? choices.map(({ label }) => label)
      : [make("span", {}, this.dot, heads[0])]));
  }

  /** @param {string} name of a head */
  idOf(name) {
    return `${this.data.kind} ${name}`;
  }

  /** @param {number} width */
  arrange(width) {
    const { heads } = this.data;
    const colors = this.data.colors[this.theme.name];
    this.inputs.forEach((input, head) => (input.style.accentColor = colors[head]));
    this.dot.style.background = colors[0];
    this.on = [...heads.keys()].filter((head) =>
      heads.length === 1 || !this.off.has(this.idOf(heads[head])));
    /** @param {number} room */
    const plan = (room) => planRibbons(this.data, this.on.length, room, this.measure);
    this.fit(plan, width, TALLEST);
    this.all = null;
  }

  /** @param {Token | null} at @param {Place} visible */
  marks(at, visible) {
    const { data, plan, theme, on, picked } = this;
    const colors = data.colors[theme.name];
    // the token that is pointed at, but not beside a picked one
    const shown = picked && at?.side !== picked.side ? picked : at;
    const ribbons = shown
      ? curveMarks({ plan, colors, on, shown }, ribbonsOf(data, on, shown))
      : (this.all ??= curveMarks({ plan, colors, on, shown }, ribbonsOf(data, on, null)));
    return ribbonMarks({ ...this.scene(at), colors, on, picked, shown, ribbons, visible });
  }

  sheet() {
    const { data, theme, on } = this;
    const names = on.map((head) => data.heads[head]);
    const colors = data.colors[theme.name];
    /** @param {number} head */
    const dot = (head) => ({
      width: 10, gap: 5, marks: [rect({ x: 0, y: 0, width: 10, height: 10, fill: colors[head] })],
    });
    return {
      name: `${names.join(" ")} ${data.kind} ribbons`, title: names.join(", "),
      lines: axes(data).map((words) => words.join(" ")),
      legend: on.flatMap((head) => [dot(head), data.heads[head]]),
    };
  }

  /** @param {number} x @param {number} y @returns {Token | null} */
  hit(x, y) {
    const { data, plan: { row, left, right } } = this;
    const index = Math.floor(y / row);
    const side = x < left ? "queries" : x > right ? "keys" : null;
    return side && data[side][index] != null ? { side, index } : null;
  }

  /** @param {Token} token */
  pick({ side, index }) {
    const again = this.picked?.side === side && this.picked.index === index;
    this.picked = again ? null : { side, index };
    this.draw();
  }

  /** @param {string} key */
  press(key) {
    if (key === "Enter" || key === " ") {
      const at = this.start();
      this.pick(at);
      const state = this.picked ? "picked" : "let go";
      this.live.textContent = `${quote(this.data[at.side][at.index])} ${state}`;
    } else if (key === "Escape") {
      this.at = this.picked = null;
      this.draw();
    } else return super.press(key);
    return true;
  }

  /** Get the word from which the keys lead on. @returns {Token} */
  start() {
    return this.at ?? this.picked ?? { side: "queries", index: 0 };
  }

  /** @param {string} key */
  target(key) {
    const { data, at } = this;
    const { side, index } = this.start();
    const last = data[side].length - 1;
    const other = OTHER[side];
    const beside = { side: other, index: Math.min(index, data[other].length - 1) };
    /** @type {Record<string, Token>} */
    const moves = {
      ArrowUp: { side, index: within(index - 1, 0, last) },
      ArrowDown: { side, index: within(at ? index + 1 : index, 0, last) },
      ArrowLeft: side === "keys" ? beside : { side, index },
      ArrowRight: side === "queries" ? beside : { side, index },
      Home: { side, index: 0 },
      End: { side, index: last },
    };
    return moves[key];
  }

  /** @param {Token} at */
  sentence(at) {
    const { data, on } = this;
    const partner = this.partner(at);
    if (partner) {
      const [query, key] = pair(partner, at);
      const weights = on.map((head) =>
        `${data.heads[head]} ${number(weightOf(data, head, query, key))}`);
      return `${arrow(data, query, key)} ${weights.join(", ")}`;
    }
    const most = on.map((head) => {
      const [token, weight] = strongest(data, head, at);
      return `${data.heads[head]} ${quote(token)} ${weight}`;
    });
    const way = at.side === "queries" ? "→" : "←";
    return `${quote(data[at.side][at.index])} ${way} ${most.join(", ")}`;
  }

  /** @param {Token} at @param {number} [columns] of numbers beside it */
  boxOf({ side, index }, columns = this.partner({ side }) ? this.plan.numbers : 0) {
    const { row, left, right, width, column } = this.plan;
    const numbers = columns * column;
    const [start, end] = side === "queries" ? [0, left + numbers] : [right - numbers, width];
    return { left: start, top: index * row, right: end, bottom: (index + 1) * row };
  }

  /** @param {Token} at */
  roomOf(at) {
    return this.boxOf(at, 0);
  }

  /** Get the picked word, if it stands on the other side. @param {Pick<Token, "side">} at */
  partner({ side }) {
    return this.picked && this.picked.side !== side ? this.picked : null;
  }

  /** List the weights with the picked word, and the decoder's words in this row.
   * @param {Token} at */
  tipNodes(at) {
    const { data, on, theme } = this;
    const name = at.side === "queries" && data.rowNames?.[at.index];
    const partner = this.partner(at);
    /** @type {(Node | string)[]} */
    const nodes = [];
    if (partner) {
      const [query, key] = pair(partner, at);
      nodes.push(arrow(data, query, key), ...on.map((head) => {
        const dot = make("span", { class: "hl-dot" });
        dot.style.background = data.colors[theme.name][head];
        const weight = make("strong", {}, number(weightOf(data, head, query, key)));
        return make("div", {}, dot, data.heads[head], weight);
      }));
    }
    if (name) nodes.push(make("div", {}, `This step ${name}.`));
    return nodes.length ? nodes : null;
  }
}

/** @param {RibbonData} data */
const axes = (data) => [["Left ←", data.rows], ["Right →", data.columns]];

/** @param {RibbonData} data @param {number} query @param {number} key */
const arrow = ({ queries, keys }, query, key) =>
  `${quote(queries[query])} → ${quote(keys[key])}`;

/** Find the token of the other side with the largest weight, and write the weight.
 * @param {RibbonData} data @param {number} head @param {Token} token */
function strongest(data, head, token) {
  const others = data[OTHER[token.side]];
  const weights = others.map((_, index) => weightOf(data, head, ...pair(token, { index })));
  const most = Math.max(...weights);
  return [others[weights.indexOf(most)], number(most)];
}
