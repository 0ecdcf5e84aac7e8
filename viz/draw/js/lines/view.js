// Every head over all sentences. Pointer and keys are answered here; the page hears which head or
// which sentence is to be opened.

import { button, make, tableOf } from "../core/dom.js";
import { PictureView, TALLEST } from "../core/picture_view.js";
import { legend, legendNodes } from "../core/scale.js";
import { figure, number } from "../core/text.js";
import { distanceOf, foremost } from "./data.js";
import { rasterOfPanel, summaryMarks } from "./marks.js";
import { ROW, hitSummary, moved, planSummary, topOf } from "./plan.js";

/** @import { Visible } from "../core/picture_view.js" */
/** @import { Head } from "../head_grid/data.js" */
/** @import { HeadRow, LinesData, SummaryPart } from "./data.js" */
/** @import { SummaryAt, SummaryPlan } from "./plan.js" */

const FOREMOST = 3;
const UNLIKE = "unlike others"; // as MEASURES in head_summary.py has it
const CHANGES = "changes"; // as VARIES in lines.py

/** @extends {PictureView<LinesData, SummaryAt, SummaryPlan>} */
export class HeadSummary extends PictureView {
  constructor() {
    super();
    this.title = make("h2", { class: "hl-title" });
    this.choice = make("select");
    this.sorted = make("input", { type: "checkbox" });
    this.says = make("span", { class: "hl-says" });
    this.menu = make("div", { class: "hl-choices" },
      make("label", {}, "Measure ", this.choice),
      make("label", {}, this.sorted, " sort by it"), this.says);
    this.legend = make("span", { class: "hl-legend" });
    this.foremost = make("dl", { class: "hl-foremost" });
    this.root.prepend(this.title, this.menu);
    this.root.insertBefore(this.foremost, this.unseen);
    this.note.after(this.legend);
    /** @type {Head | null} */
    this.open = null; // the head that the explorer shows
    this.picks = true;
    this.scroll.classList.add("hl-summary");
    /** @type {import("../core/raster.js").Raster[]} */
    this.rasters = [];
    for (const input of [this.choice, this.sorted]) {
      input.addEventListener("change", () => {
        this.at = null;
        this.layOut();
      });
    }
  }

  update() {
    const { measures, selected, parts } = this.data;
    const { title, note, help, columns } = wordsOf(this.data);
    this.open = selected;
    this.title.textContent = title;
    this.choice.replaceChildren(...Object.keys(measures).map((name) => make("option", {}, name)));
    this.setLabel(title, help);
    this.note.textContent = note;
    this.foremost.replaceChildren(...this.differences());
    const names = Object.keys(measures);
    this.table.replaceChildren(...tableOf(`${title}, means`,
      [...columns, ...names],
      parts.flatMap((part) => part.heads.map((head, n) => [
        part.title, head.name, head.role || "none", this.strongest(part, n),
        ...names.map((name) => figure(Number(head.values[name][0].toPrecision(3)))),
      ]))));
  }

  /** Find where the most of a head's weight lies. @param {SummaryPart} part @param {number} head */
  strongest({ columns, profile }, head) {
    const row = profile.subarray(head * columns, (head + 1) * columns);
    const column = row.indexOf(Math.max(...row));
    return `${number(row[column])} ${distanceOf(column, this.data.reach)}`;
  }

  /** List where heads differ most, as buttons that open them. */
  differences() {
    const { data } = this;
    const words = wordsOf(data);
    const heads = /** @param {string} measure */ (measure) =>
      foremost(data, measure, FOREMOST).map(({ part, head, value }) =>
        button(`${head.name} · ${part.title} ${value.toFixed(2)}`, () => this.selectHead(
          [part.kind, head.layer, head.head])));
    const sentences = [...data.sentences].sort((a, b) => b.unlike - a.unlike).slice(0, FOREMOST);
    const links = sentences.map(({ number: line, unlike }) =>
      make("a", { href: `#${line}` }, `#${line} ${unlike.toFixed(2)}`));
    return [
      [words.unlike, heads(UNLIKE)],
      [words.changes, heads(CHANGES)],
      [words.sentences, links],
    ].flatMap(([term, nodes]) => [
      make("dt", {}, /** @type {string} */ (term)),
      make("dd", {}, .../** @type {Node[]} */ (nodes)),
    ]);
  }

  /** @param {Head} head */
  selectHead(head) {
    this.mark(head);
    this.options.onSelect?.(head);
  }

  /** Mark the head that the explorer shows. @param {Head | null} head */
  mark(head) {
    this.open = head;
    this.draw();
  }

  /** @param {number} width */
  arrange(width) {
    const { data, theme, sorted, choice } = this;
    this.plan = planSummary(data.parts, sorted.checked ? choice.value : null, width,
      this.measure);
    // stacked panels are a phone's, where a frame that scrolls in a page that scrolls is a trap
    this.setFrame(width, this.plan.stacked ? 2 * TALLEST : TALLEST);
    this.rasters = this.plan.panels.map((panel) => rasterOfPanel(panel, theme.name));
    this.says.textContent = data.measures[choice.value];
    this.legend.replaceChildren(...legendNodes(...this.scaling()));
  }

  /** @returns {[import("../core/scale.js").Scaling, import("../core/raster.js").Colors]} */
  scaling() {
    const { amount, parts: [{ palette }] } = this.data;
    return [
      { scale: "square root", threshold: 0, signed: false, amount }, palette[this.theme.name],
    ];
  }

  /** @param {Visible} visible */
  marks({ x, y }) {
    const { data, plan, theme, at, rasters, open, choice } = this;
    const marks = summaryMarks({
      data, plan, theme, at, rasters, open, measure: choice.value,
    });
    return [{ type: /** @type {const} */ ("group"), marks, x: -x, y: -y }];
  }

  sheet() {
    const { data, plan, theme, rasters, choice } = this;
    const { unit, title } = wordsOf(data);
    return {
      name: `${unit}s over all sentences`, title, legend: legend(...this.scaling()),
      lines: [`${choice.value}: ${this.says.textContent}.`],
      marks: summaryMarks({
        data, plan, theme, rasters, at: null, open: null, measure: choice.value,
      }),
    };
  }

  /** @param {number} x @param {number} y */
  hit(x, y) {
    return hitSummary(this.plan, x, y);
  }

  /** @param {SummaryAt} at */
  headAt({ panel, row }) {
    const { part, rows } = this.plan.panels[panel];
    return { part, head: part.heads[rows[row]], n: rows[row] };
  }

  /** @param {SummaryAt} at */
  pick(at) {
    const { part, head } = this.headAt(at);
    this.live.textContent = `${head.name} of ${part.title} is open`;
    this.selectHead([part.kind, head.layer, head.head]);
  }

  /** @param {string} key */
  target(key) {
    return moved(this.plan, this.at, key);
  }

  /** @param {SummaryAt} at */
  sentence(at) {
    return this.words(at).join(". ");
  }

  /** @param {SummaryAt} at */
  words(at) {
    const { part, head, n } = this.headAt(at);
    const name = `${head.name} · ${part.title}`;
    if (at.column != null) {
      const weight = part.profile[n * part.columns + at.column];
      return [`${name}: ${distanceOf(at.column, this.data.reach)}`, number(weight)];
    }
    const roles = head.roles.map(([role, count]) =>
      `${role || "none"} in ${count.toLocaleString("en")}`).join(", ");
    return [name, measured(this.choice.value, head), `Role by sentence: ${roles}`];
  }

  /** @param {SummaryAt} at */
  boxOf(at) {
    const panel = this.plan.panels[at.panel];
    const top = topOf(panel, at.row);
    const left = at.column == null ? panel.x : panel.strip + at.column * panel.cell;
    const right = at.column == null ? panel.strip : left + panel.cell;
    return { left, top, right, bottom: top + ROW };
  }

  /** @param {SummaryAt} at */
  tipNodes(at) {
    const [name, ...lines] = this.words(at);
    return [name, ...lines.map((line) => make(at.column == null ? "div" : "strong", {}, line))];
  }
}

/** Write a measure of a head. @param {string} name @param {HeadRow} head */
function measured(name, { values }) {
  const [mean, deviation, lowest, highest] = values[name];
  /** @param {number} value */
  const short = (value) => figure(Number(value.toPrecision(3)));
  if (deviation == null || !lowest || !highest) return `${name} ${short(mean)}`;
  const [from, to] = [lowest, highest].map(([value, line]) => `${short(value)} in #${line}`);
  return `${name} ${short(mean)} ± ${short(deviation)}, from ${from} to ${to}`;
}

/** @param {Pick<LinesData, "together" | "amount">} data */
export function wordsOf({ together, amount }) {
  const unit = together ? "layer" : "head";
  const many = together ? "Layers" : "Heads";
  return {
    unit,
    title: `Each ${unit} over all sentences`,
    note: `Each strip is one ${unit}: the mean ${amount} at each position relative to the one that `
      + "looks; … is all beyond. Beside it its role, and the measure: its mean, one standard "
      + "deviation between sentences, and from the lowest sentence to the highest.",
    help: `Up and down move over the ${unit}s, left and right over the positions, Enter opens a `
      + `${unit} in the sentence below.`,
    unlike: `${many} most unlike the others of their kind`,
    changes: `${many} that change most between sentences`,
    sentences: `Sentences in which ${unit}s differ most from each other`,
    columns: ["Kind", together ? "Layer" : "Head", "Role", `Most ${amount}`],
  };
}
