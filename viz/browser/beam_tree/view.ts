// The prefixes of a beam search as a tree that is read from left to right: a line under each row,
// as wide at a piece as that is probable, and the pieces on it. Pointer and keys are answered here;
// the host hears which prefix is to be forced.

import { mixed } from "../core/color.ts";
import { boxAt, choice, fillTable, make, MOVES } from "../core/dom.ts";
import { PictureView, type Scene, TALLEST } from "../core/picture_view.ts";
import { circle, type Mark, path, type Place, rect, text } from "../core/scene.ts";
import { SharedChoice } from "../core/store.ts";
import { figure, fixed, isolate, number, quote, tidy } from "../core/text.ts";
import {
  connect, isMark, MARK, type NodePlace, NUMBERS, pathTo, planTree, prefixOf, ROOT, ROW, sameIn,
  SMALL, type TreeData, type TreeNode, type TreePlan,
} from "./plan.ts";
import type { Theme } from "../core/theme.ts";

const ACCENT = "#E69F00"; // Okabe and Ito's orange: no kind of attention has it
const LIT = { share: { light: 0.42, dark: 0.55 }, line: 11, pad: 4 }; // a path that is pointed at
const LINE = { thinnest: 1, widest: 5 };
const SHARE = { leads: 0.62, ends: 0.34, dropped: 0.24 }; // of ink in a line
const EVERY = 5; // every fifth step has its number

type TreeScene = Scene<TreeData, TreePlan, TreeAt>;

export function treeMarks(scene: TreeScene, visible: Place): Mark[] {
  const { data, plan, at, theme } = scene;
  const inSight = (n: number) => {
    const { x, end, width } = placeOf(scene, n);
    return startOf(scene, n) < visible.x + visible.width && Math.max(end, x + width) > visible.x;
  };
  const drawn = plan.steps.flat().filter(inSight).reverse(); // the translation last, so over others
  const lit = at ? pathTo(data, at.node) : [];
  return [
    ...numbers(scene),
    ...lit.filter(inSight).map((n) => {
      const { x, end, width } = placeOf(scene, n);
      return lineTo(scene, n, litLook(theme), n === at?.node ? x + width : end);
    }),
    ...drawn.flatMap((n) => grounds(scene, n)),
    ...drawn.map((n) => lineTo(scene, n, lookOf(scene, n))),
    circle({ x: ROOT / 2, y: NUMBERS + ROW.line, radius: 3.5, fill: theme.ink }),
    ...outline(scene),
    ...drawn.flatMap((n) => words(scene, n, lit.includes(n))),
  ];
}

const placeOf = ({ plan }: TreeScene, n: number) => plan.places[n] as NodePlace;

const numbers = ({ plan: { columns }, theme }: TreeScene): Mark[] => columns.flatMap((x, step) =>
  (step === 1 || (step && step % EVERY === 0)
    ? [text({
      text: step === 1 ? "step 1" : String(step), x, y: 7, middle: true, size: SMALL,
      fill: theme.quiet,
    })] : []));

interface Look { stroke: string; line: number }

const litLook = ({ name, paper }: Theme): Look =>
  ({ stroke: mixed(ACCENT, paper, LIT.share[name]), line: LIT.line });

function lookOf(
  { data: { nodes }, plan: { course }, theme: { ink, paper } }: TreeScene, n: number,
): Look {
  const { log_prob: logProb, state } = nodes[n];
  if (state === "dropped" && !course.top[n]) {
    return { stroke: mixed(ink, paper, SHARE.dropped), line: 1 };
  }
  const probability = Math.min(1, Math.exp(logProb));
  const line = tidy(LINE.thinnest + probability * (LINE.widest - LINE.thinnest));
  const share = course.leads[n] ? SHARE.leads : SHARE.ends;
  return { stroke: course.top[n] ? ink : mixed(ink, paper, share), line };
}

/** Where the line to a node begins: at its parent's end, or at the dot. */
function startOf(scene: TreeScene, n: number) {
  const { parent } = scene.data.nodes[n];
  return parent < 0 ? ROOT / 2 : placeOf(scene, parent).end;
}

/** Draw the line from the parent, and below the piece. */
function lineTo(scene: TreeScene, n: number, look: Look, end = endOf(scene, n)): Mark {
  const { x, y } = placeOf(scene, n);
  const { parent } = scene.data.nodes[n];
  const from = startOf(scene, n);
  const above = (parent < 0 ? NUMBERS : placeOf(scene, parent).y) + ROW.line;
  const middle = (from + x) / 2;
  const to = y + ROW.line;
  const way = above === to ? "" : `C${middle},${above} ${middle},${to} ${x},${to}`;
  return path({ d: `M${from},${above}${way}H${end}`, ...look });
}

function endOf(scene: TreeScene, n: number) {
  const { x, end, label } = placeOf(scene, n);
  if (scene.data.nodes[n].score === null) return end;
  return x + label + (label && MARK.before) + MARK.width / 2;
}

function grounds(scene: TreeScene, n: number): Mark[] {
  const { data, theme, at } = scene;
  const { x, y, width } = placeOf(scene, n);
  const box = boxOf(x, y, width);
  return [
    ...(data.nodes[n].state === "forced" ? [rect({ ...box, fill: theme.ink, opacity: 0.1 })] : []),
    ...(n === at?.node ? [rect({ ...box, fill: litLook(theme).stroke })] : []),
  ];
}

function outline({ data: { chosen }, plan, theme }: TreeScene): Mark[] {
  if (chosen === null) return [];
  const { x, y, width } = plan.places[chosen] as NodePlace;
  return [rect({ ...boxOf(x, y, width), stroke: theme.ink, line: 1.5 })];
}

const boxOf = (x: number, y: number, width: number) =>
  ({ x: x - LIT.pad, y, width: width + 2 * LIT.pad, height: ROW.line - 3 });

function words(
  { data, plan: { places, course, font }, theme }: TreeScene, n: number, isLit: boolean,
): Mark[] {
  const node = data.nodes[n];
  const { x, y, label } = places[n] as NodePlace;
  const fill = isLit || course.leads[n] ? theme.ink : theme.quiet;
  const weight = course.top[n] ? 600 : 400;
  const marks: Mark[] = isMark(node) ? [] : [text({
    text: isolate(node.label), x, y: y + ROW.middle, middle: true, fill, weight,
    size: node.state === "dropped" ? SMALL : font,
  })];
  if (node.score === null) return marks;
  const mark = x + label + (label && MARK.before);
  return [
    ...marks,
    circle({ x: mark + MARK.width / 2, y: y + ROW.line, radius: MARK.width / 2, fill }),
    text({
      text: fixed(node.score, 2), x: mark + MARK.width + MARK.after, y: y + ROW.line,
      middle: true, size: SMALL, fill, weight,
    }),
  ];
}

interface TreeAt { node: number }

const HELP = "Left goes to the parent, right to the best child, up and down to the other pieces of "
  + "a step; Enter: the translation must begin this way.";
const CLICK = "Click a word: the translation must begin this way.";
const LEAST = 4; // rows that there is room for, whatever the tree
const NEAR = 4; // of a piece, where a click is still meant for it
const AHEAD = 80; // of the picture that is seen beside a piece that the keys lead to

export class BeamTree extends PictureView<TreeData, TreeAt, TreePlan> {
  static read(message: any): TreeData {
    const nodes: TreeNode[] = message.nodes.map((node: any) =>
      ({ ...node, rank: 0, candidates: 0, children: [] }));
    return { ...message, nodes, roots: connect(nodes) };
  }

  count = make("span");
  withDropped = new SharedChoice(false);
  picks = true;
  high = 0;
  before: TreeData | null = null; // what was shown before these data
  toggle = choice({ type: "checkbox" }, this.count);

  constructor() {
    super();
    this.scroll.style.maxHeight = `${TALLEST}px`;
    this.tip.classList.add("hl-tree-tip");
    const { input, label } = this.toggle;
    this.note.after(label);
    input.addEventListener("change", () => {
      this.withDropped.choose(input.checked);
      this.options.onSelect?.({ dropped: input.checked });
      this.layOut();
    });
  }

  update() {
    const { data, before, at } = this;
    // the prefix that was looked at is looked at still, if the new tree has it
    const node = at && before ? sameIn(before, at.node, data) : null;
    this.at = node === null ? null : { node };
    this.before = data;
    this.describe(data.title, HELP, `${data.note} ${CLICK}`);
    const count = data.nodes.filter(({ state }) => state === "dropped").length;
    this.count.textContent = `show ${count} discarded candidate${count === 1 ? "" : "s"}`;
    this.toggle.label.hidden = !count;
    this.withDropped.follow(data.dropped);
    this.toggle.input.checked = this.withDropped.value;
    fillTable(this.table, data.title, [data.language, ...COLUMNS], hypothesisRows(data));
  }

  arrange(frame: number) {
    this.plan = planTree(this.data, this.withDropped.value, frame, this.measure);
    if (this.at && !this.plan.places[this.at.node]) this.at = null;
    // a tree that shrinks a little leaves the page below it where it was
    const room = Math.max(this.plan.height, NUMBERS + LEAST * ROW.height);
    if (room > this.high || room < this.high / 2) this.high = room;
    this.setRoom(this.high);
  }

  marks(at: TreeAt | null, visible: Place) {
    return treeMarks(this.scene(at), visible);
  }

  sheet() {
    // a long note is broken between its sentences
    return { note: "", legend: this.data.note.replaceAll(". ", ".\n").split("\n") };
  }

  hit(x: number, y: number) {
    const { columns, places, steps } = this.plan;
    const step = columns.findLastIndex((start) => start <= x + NEAR);
    const node = steps[step]?.[Math.floor((y - NUMBERS) / ROW.height)] ?? -1;
    return places[node] && x < places[node].end + NEAR ? { node } : null;
  }

  pick({ node }: TreeAt) {
    const { data } = this;
    this.live.textContent = `${quote(prefixOf(data, node))} is forced`;
    // the pieces as the tokenizer writes them; the page finds the node by it
    const prefix = pathTo(data, node).map((n) => data.nodes[n].text).join("");
    this.options.onSelect?.({ node, prefix });
  }

  target(key: string) {
    const node = this.next(key);
    return node === null ? null : { node };
  }

  /** Find the node that a key leads to: back to the parent, on to the best child, up and down among
   * those of its step as they stand, so to its siblings too. */
  next(key: string) {
    const { nodes } = this.data;
    const { steps, places } = this.plan;
    if (!(key in MOVES)) return null;
    if (!this.at || key === "Home") return steps[1]?.[0] ?? null;
    const at = this.at.node;
    if (key === "ArrowLeft") return nodes[at].parent < 0 ? at : nodes[at].parent;
    const after = (n: number) => steps[nodes[n].step + 1]?.find((m) => nodes[m].parent === n) ?? n;
    if (key === "ArrowRight") return after(at);
    if (key === "End") {
      let last = at;
      while (after(last) !== last) last = after(last);
      return last;
    }
    const row = (places[at] as NodePlace).row + (key === "ArrowUp" ? -1 : 1);
    return steps[nodes[at].step][row] ?? at;
  }

  boxOf({ node }: TreeAt) {
    const { x, y, width } = this.plan.places[node] as NodePlace;
    return boxAt(x, y, width, ROW.height);
  }

  roomOf(at: TreeAt) {
    const { left, top, right, bottom } = this.boxOf(at);
    return { left: left - AHEAD, top, right: right + AHEAD, bottom: bottom + ROW.height };
  }

  sentence({ node }: TreeAt) {
    return [pieceOf(this.data, node).join(" "), ...linesOn(this.data, node)].join(". ");
  }

  tipNodes({ node }: TreeAt) {
    const [name, probability] = pieceOf(this.data, node);
    const lines = linesOn(this.data, node).map((line) => make("div", {}, line));
    return [name, make("strong", {}, probability), ...lines];
  }
}

const LONGEST = 240; // letters of a prefix beside the pointer: its end, for it is about its end

function pieceOf({ nodes }: TreeData, n: number) {
  const { label, log_prob: logProb } = nodes[n];
  return [quote(label), number(Math.min(1, Math.exp(logProb)))];
}

export function linesOn(data: TreeData, n: number) {
  const { total, score } = data.nodes[n];
  const whole = prefixOf(data, n);
  const prefix = whole.length > LONGEST ? `…${whole.slice(-LONGEST)}` : whole;
  const logs = `log probability up to here ${figure(total)}`;
  return [
    ...(prefix ? [quote(prefix)] : []),
    score === null ? logs : `${logs}, score ${figure(score)}`,
    stateOf(data, n),
  ];
}

export function stateOf({ nodes }: TreeData, n: number) {
  const { state, step, rank, candidates, reason, children } = nodes[n];
  if (state === "forced") return `Forced at step ${step}.`;
  const name = state[0].toUpperCase() + state.slice(1);
  const ranked = `${name} at step ${step}, rank ${rank} of ${candidates}.`;
  if (reason) return `${ranked} ${reason}`;
  const ended = state === "kept" && children.every((child) => nodes[child].state === "dropped")
    && nodes.some((other) => other.step > step);
  return ended ? `${ranked} None of its continuations was kept.` : ranked;
}

export const COLUMNS = ["Score", "Log probability", "Subwords"]; // after the text

export function hypothesisRows(data: TreeData): string[][] {
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
