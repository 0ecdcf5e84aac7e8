// The prefixes of a beam search as a tree that is read from left to right. Pointer and keys are
// answered here; the host hears which prefix is to be forced.

import { make, tableOf } from "../core/dom.js";
import { PictureView, TALLEST } from "../core/picture_view.js";
import { figure, number, quote } from "../core/text.js";
import { prefixOf, sameIn, writtenTo } from "./data.js";
import { treeMarks } from "./marks.js";
import { NUMBERS, ROW, hitTree, moved, planTree } from "./plan.js";

/** @import { Visible } from "../core/picture_view.js" */
/** @import { TreeData } from "./data.js" */
/** @import { Place, TreePlan } from "./plan.js" */

/** A node, by its place in the list. @typedef {{node: number}} TreeAt */

const HELP = "Left goes to the parent, right to the best child, up and down to the other pieces of "
  + "a step; Enter forces the prefix.";
const CLICK = "A click on a piece forces the prefix up to it.";
const LEAST = 4; // rows that there is room for, whatever the tree
const AHEAD = 80; // of the picture that is seen beside a piece that the keys lead to

/** @extends {PictureView<TreeData, TreeAt, TreePlan>} */
export class BeamTree extends PictureView {
  constructor() {
    super();
    this.scroll.classList.add("hl-tree");
    this.scroll.style.maxHeight = `${TALLEST}px`;
    this.tip.classList.add("hl-tree-tip");
    this.dropped = make("input", { type: "checkbox" });
    this.count = make("span");
    this.toggle = make("label", { class: "hl-tree-dropped" }, this.dropped, this.count);
    this.note.after(this.toggle);
    this.dropped.addEventListener("change", () => this.layOut());
    this.picks = true;
    this.high = 0;
    /** @type {TreeData | null} */
    this.before = null; // what was shown before these data
  }

  update() {
    const { data, before, at } = this;
    // the prefix that was looked at is looked at still, if the new tree has it
    const node = at && before ? sameIn(before, at.node, data) : null;
    this.at = node === null ? null : { node };
    this.before = data;
    this.setLabel(data.title, HELP);
    this.note.textContent = `${data.note} ${CLICK}`;
    const count = data.nodes.filter(({ state }) => state === "dropped").length;
    this.count.textContent = `show ${count} dropped candidate${count === 1 ? "" : "s"}`;
    this.toggle.hidden = !count;
    this.table.replaceChildren(...tableOf(data.title, headOf(data), hypothesisRows(data)));
  }

  /** @param {number} frame width */
  arrange(frame) {
    this.plan = planTree(this.data, this.dropped.checked, frame, this.measure);
    if (this.at && !this.plan.places[this.at.node]) this.at = null;
    // a tree that shrinks a little leaves the page below it where it was
    const room = Math.max(this.plan.height, NUMBERS + LEAST * ROW.height);
    if (room > this.high || room < this.high / 2) this.high = room;
    this.setRoom(this.high);
  }

  /** @param {Visible} visible */
  marks(visible) {
    return treeMarks(this.scene(visible, this.at?.node ?? null));
  }

  /** @param {Visible} visible @param {number | null} at */
  scene(visible, at) {
    const { data, plan, theme } = this;
    return { data, plan, theme, at, visible };
  }

  sheet() {
    const { data: { title, note }, plan: { width, height } } = this;
    return {
      name: title, title, legend: sentencesOf(note),
      marks: treeMarks(this.scene({ x: 0, y: 0, width, height }, null)),
    };
  }

  /** @param {number} x @param {number} y */
  hit(x, y) {
    const node = hitTree(this.plan, x, y);
    return node === null ? null : { node };
  }

  /** @param {TreeAt} at */
  pick({ node }) {
    this.live.textContent = `${quote(prefixOf(this.data, node))} is forced`;
    this.options.onSelect?.({ node, prefix: writtenTo(this.data, node) });
  }

  /** @param {string} key */
  target(key) {
    const node = moved(this.data, this.plan, this.at?.node ?? null, key);
    return node === null ? null : { node };
  }

  /** @param {TreeAt} at */
  boxOf({ node }) {
    const { x, y, width } = /** @type {Place} */ (this.plan.places[node]);
    return { left: x, top: y, right: x + width, bottom: y + ROW.height };
  }

  /** With the pieces before and after it, and the row below. @param {TreeAt} at */
  roomOf(at) {
    const { left, top, right, bottom } = this.boxOf(at);
    return { left: left - AHEAD, top, right: right + AHEAD, bottom: bottom + ROW.height };
  }

  /** @param {TreeAt} at */
  sentence({ node }) {
    return [piece(this.data, node).join(" "), ...linesOn(this.data, node)].join(". ");
  }

  /** @param {TreeAt} at */
  tipNodes({ node }) {
    const [name, probability] = piece(this.data, node);
    const lines = linesOn(this.data, node).map((line) => make("div", {}, line));
    return [name, make("strong", {}, probability), ...lines];
  }
}

/** Break a long note between its sentences. @param {string} note */
const sentencesOf = (note) => note.split(/(?<=\.) /);

const LONGEST = 240; // letters of a prefix beside the pointer: its end, for it is about its end

/** @param {TreeData} data @param {number} n */
function piece({ nodes }, n) {
  const { label, logProb } = nodes[n];
  return [quote(label), number(Math.min(1, Math.exp(logProb)))];
}

/**
 * Write the lines under the piece and its probability.
 * @param {TreeData} data
 * @param {number} n
 */
export function linesOn(data, n) {
  const { total, score } = data.nodes[n];
  const whole = prefixOf(data, n);
  const prefix = whole.length > LONGEST ? `…${whole.slice(-LONGEST)}` : whole;
  const numbers = `log P of the prefix ${figure(total)}`;
  return [
    ...(prefix ? [quote(prefix)] : []),
    score === null ? numbers : `${numbers}, score ${figure(score)}`,
    stateOf(data, n),
  ];
}

/**
 * Describe the state of a node: `Kept at step 4, rank 2 of 8.`
 * @param {TreeData} data
 * @param {number} n
 */
export function stateOf({ nodes }, n) {
  const { state, step, rank, candidates, reason, children } = nodes[n];
  if (state === "forced") return `Forced at step ${step}.`;
  const name = state[0].toUpperCase() + state.slice(1);
  const ranked = `${name} at step ${step}, rank ${rank} of ${candidates}.`;
  if (reason) return `${ranked} ${reason}`;
  const ended = state === "kept" && children.every((child) => nodes[child].state === "dropped")
    && nodes.some((other) => other.step > step);
  return ended ? `${ranked} None of its continuations was kept.` : ranked;
}

/** Name the columns of `hypothesisRows`. @param {TreeData} data */
export const headOf = ({ language }) => [language, "Score", "log P", "Pieces"];

/**
 * List the finished hypotheses, the best first, always with the translation.
 * @param {TreeData} data
 * @returns {string[][]}
 */
export function hypothesisRows(data) {
  const { nodes, best } = data;
  const finished = [...nodes.keys()].filter((n) => n === best || nodes[n].score !== null);
  finished.sort((a, b) => Number(b === best) - Number(a === best)
    || Number(nodes[b].score) - Number(nodes[a].score));
  return finished.map((n) => {
    const { score, total, step } = nodes[n];
    return [
      prefixOf(data, n), score === null ? "not finished" : figure(score), figure(total),
      String(step),
    ];
  });
}
