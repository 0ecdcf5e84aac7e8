// The ribbons: what looks stands on the left, what is looked at on the right, and a ribbon
// between two words is as wide and as strong as the weight. Several heads lie over each other.

import { make, tableOf } from "../core/dom.js";
import { PictureView, TALLEST } from "../core/picture_view.js";
import { rect } from "../core/scene.js";
import { looksMost, number, quote, within } from "../core/text.js";
import { OTHER, pair, ribbonsOf, weightOf } from "./data.js";
import { curveMarks, ribbonMarks } from "./marks.js";
import { hitRibbons, planRibbons } from "./plan.js";

/** @import { Visible } from "../core/picture_view.js" */
/** @import { RibbonData, Token } from "./data.js" */
/** @import { RibbonPlan } from "./plan.js" */

const HELP = "Up and down move over the words, left and right change sides, Enter picks a word, "
  + "Escape lets it go.";

/** @extends {PictureView<RibbonData, Token, RibbonPlan>} */
export class Ribbons extends PictureView {
  constructor() {
    super();
    this.switches = make("fieldset", { class: "hl-switches", "aria-label": "Heads" });
    this.axes = make("div", { class: "hl-axes" });
    this.scroll.classList.add("hl-ribbons");
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
    /** @type {import("../core/scene.js").Group | null} */
    this.all = null; // ribbons of all tokens, made when they are needed
  }

  update() {
    const { data } = this;
    // another sentence, other words
    if (this.setTexts([data.kind, data.queries, data.keys])) this.at = this.picked = null;
    this.setLabel(`Ribbons of ${data.heads.join(", ")}`, HELP);
    this.axes.replaceChildren(...axes(data).map(([side, text]) =>
      make("div", {}, make("span", {}, side), make("span", {}, text))));
    this.note.textContent = data.note;
    this.showSwitches();
    this.table.replaceChildren(...tableOf(
      `Where ${looksMost(data.amount)}`, [data.rows, ...data.heads], strongestOfAll(data)));
  }

  /** One switch for each head; they are made anew only for other heads, so they keep the focus. */
  showSwitches() {
    const { heads } = this.data;
    const ids = heads.map((name) => this.idOf(name));
    for (const id of this.off) if (!ids.includes(id)) this.off.delete(id); // taken away: comes on
    if (ids.join("\n") === this.named) return;
    this.named = ids.join("\n");
    this.inputs = (heads.length > 1 ? ids : []).map((id) => {
      const input = make("input", { type: "checkbox" });
      input.checked = !this.off.has(id);
      input.addEventListener("change", () => {
        this.off[input.checked ? "delete" : "add"](id);
        this.layOut();
      });
      return input;
    });
    // a head alone cannot be switched off
    this.switches.replaceChildren(...(heads.length > 1
      ? heads.map((name, head) => make("label", {}, this.inputs[head], make("span", {}, name)))
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

  /** @param {Visible} visible */
  marks(visible) {
    return ribbonMarks(this.scene(visible, this.at));
  }

  /** @param {Visible} visible @param {Token | null} at */
  scene(visible, at) {
    const { data, plan, theme, measure, on, picked } = this;
    const colors = data.colors[theme.name];
    // the token that is pointed at, but not beside a picked one
    const shown = picked && at?.side !== picked.side ? picked : at;
    return {
      data, plan, theme, measure, colors, on, at, picked, shown, visible,
      ribbons: shown
        ? curveMarks({ plan, colors, on, shown }, ribbonsOf(data, on, shown))
        : (this.all ??= curveMarks({ plan, colors, on, shown }, ribbonsOf(data, on, null))),
    };
  }

  sheet() {
    const { data, plan: { width, height }, theme, on } = this;
    const names = on.map((head) => data.heads[head]);
    const colors = data.colors[theme.name];
    /** @param {number} head */
    const dot = (head) => ({
      width: 10, gap: 5, marks: [rect({ x: 0, y: 0, width: 10, height: 10, fill: colors[head] })],
    });
    return {
      name: `${names.join(" ")} ${data.kind} ribbons`, title: names.join(", "), note: data.note,
      lines: axes(data).map((words) => words.join(" ")),
      legend: on.flatMap((head) => [dot(head), data.heads[head]]),
      marks: ribbonMarks(this.scene({ x: 0, y: 0, width, height }, null)),
    };
  }

  /** @param {number} x @param {number} y */
  hit(x, y) {
    return hitRibbons(this.data, this.plan, x, y);
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
    return moved(this.start(), key, this.data, Boolean(this.at));
  }

  /** @param {Token} at */
  sentence(at) {
    return sentence(this.data, this.on, at, this.picked);
  }

  /** @param {Token} at @param {number} [numbers] width of the numbers beside it */
  boxOf({ side, index }, numbers = this.partner({ side }) ? this.numbersWidth() : 0) {
    const { row, left, right, width } = this.plan;
    const [start, end] = side === "queries" ? [0, left + numbers] : [right - numbers, width];
    return { left: start, top: index * row, right: end, bottom: (index + 1) * row };
  }

  /** @param {Token} at */
  roomOf(at) {
    return this.boxOf(at, 0);
  }

  numbersWidth() {
    return this.plan.numbers * this.plan.column;
  }

  /** Get the picked word, if it stands on the other side. @param {Pick<Token, "side">} at */
  partner({ side }) {
    return this.picked && this.picked.side !== side ? this.picked : null;
  }

  /**
   * List the weights with the picked word, and the decoder's words in this row.
   * @param {Token} at
   */
  tipNodes(at) {
    const name = at.side === "queries" && this.data.rowNames?.[at.index];
    const partner = this.partner(at);
    const nodes = partner ? this.weights(...pair(partner, at), this.on) : [];
    if (name) nodes.push(make("div", {}, `This row ${name}.`));
    return nodes.length ? nodes : null;
  }

  /**
   * @param {number} query
   * @param {number} key
   * @param {number[]} on
   * @returns {(Node | string)[]}
   */
  weights(query, key, on) {
    const { data } = this;
    return [arrow(data, query, key), ...on.map((head) => {
      const dot = make("span", { class: "hl-dot" });
      dot.style.background = data.colors[this.theme.name][head];
      const weight = make("strong", {}, number(weightOf(data, head, query, key)));
      return make("div", {}, dot, data.heads[head], weight);
    })];
  }
}

/** @param {RibbonData} data */
const axes = (data) => [["Left ←", data.rows], ["Right →", data.columns]];

/**
 * Find the word that a key leads to.
 * @param {Token} token
 * @param {string} pressed
 * @param {{queries: string[], keys: string[]}} data
 * @param {boolean} isAt whether the cursor is already there
 * @returns {Token | undefined}
 */
export function moved({ side, index }, pressed, data, isAt) {
  const last = data[side].length - 1;
  const other = OTHER[side];
  const beside = { side: other, index: Math.min(index, data[other].length - 1) };
  /** @type {Record<string, Token>} */
  const moves = {
    ArrowUp: { side, index: within(index - 1, 0, last) },
    ArrowDown: { side, index: within(isAt ? index + 1 : index, 0, last) },
    ArrowLeft: side === "keys" ? beside : { side, index },
    ArrowRight: side === "queries" ? beside : { side, index },
    Home: { side, index: 0 },
    End: { side, index: last },
  };
  return moves[pressed];
}

/** @param {RibbonData} data @param {number} query @param {number} key */
const arrow = ({ queries, keys }, query, key) =>
  `${quote(queries[query])} → ${quote(keys[key])}`;

/**
 * List for each query the key that each head looks at most.
 * @param {RibbonData} data
 * @returns {string[][]}
 */
const strongestOfAll = (data) => data.queries.map((token, index) => [token,
  ...data.heads.map((_, head) => strongest(data, head, { side: "queries", index }).join(" "))]);

/**
 * Describe the token under the cursor for a screen reader.
 * @param {RibbonData} data
 * @param {number[]} on
 * @param {Token} at
 * @param {Token | null} picked
 */
function sentence(data, on, at, picked) {
  if (picked && picked.side !== at.side) {
    const [query, key] = pair(picked, at);
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

/**
 * Find the token of the other side with the largest weight, and write the weight.
 * @param {RibbonData} data
 * @param {number} head
 * @param {Token} token
 */
function strongest(data, head, token) {
  const others = data[OTHER[token.side]];
  const weights = others.map((_, index) => weightOf(data, head, ...pair(token, { index })));
  const most = Math.max(...weights);
  return [others[weights.indexOf(most)], number(most)];
}
