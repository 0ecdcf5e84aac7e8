// A player: a translation that is written subword by subword, or heads that form in training. Each
// moment has the ribbons of one head, a tile for every head, and a sentence that says what happens.
// Everything is stepped here, without the host.

import { paint, sized } from "../core/canvas.ts";
import {
  ARROWS, button, choice, fillTable, isShortcut, make, placeTip, pointIn,
} from "../core/dom.ts";
import { group } from "../core/scene.ts";
import { number, quote, within } from "../core/text.ts";
import { View } from "../core/view.ts";
import { barMarks, linksShown, partnersOf, stageMarks, tileMarks, type Word } from "./marks.ts";
import {
  BARS, type Head, type KindData, momentsOf, percent, planPlayer, planTiles, type PlayerData,
  type PlayerPlan, rowBetween, strongest, type Tile,
} from "./plan.ts";
import type { Kind } from "../attention_map/plan.ts";

const SAYS = 17; // CSS pixels of the sentence
const STEP = 450; // ms: nine subwords take four seconds
const MOVE = 260; // of them what moves does
const REST = 400; // ms after the last change of a run until the host hears of it
const STEP_NAME = "step"; // in the address, from 1
const HEAD_NAME = "watched"; // likewise: `cross-4-3`

export class Player extends View<PlayerData> {
  stage = make("canvas", { "aria-hidden": "true" });
  says = make("p", { class: "hl-player-says", "aria-live": "polite" });
  back = button("◀", () => this.go(this.step - 1), { "aria-label": "One step back" });
  play = button("▶ Play", () => (this.timer ? this.pause() : this.start()));
  on = button("▶|", () => this.go(this.step + 1), { "aria-label": "One step on" });
  slider = make("input", { type: "range", min: 1, step: 1, "aria-label": "Step" });
  count = make("span", { class: "hl-player-count" });
  kinds = make("span", { role: "radiogroup", "aria-label": "Attention" });
  about = make("p", { class: "hl-player-about" });
  tiles = make("canvas", { "aria-hidden": "true" });
  board = make("div", { class: "hl-player-tiles", tabindex: "0", role: "application" }, this.tiles);
  tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
  bars = make("canvas", { class: "hl-player-bars", "aria-hidden": "true" });
  frame = make("div", { class: "hl-frame hl-player-stage" }, this.stage, this.bars, this.tip);
  table = make("table");
  aboutHeads = "";
  selected: Record<string, Head> = {}; // by kind
  pointed: Head | null = null; // a tile under the pointer or the cursor
  word: Word | null = null; // under the pointer, whose links are shown
  step = 0; // the last one: all at once, where there is a search
  part = 1; // of the step that is over
  timer = 0; // the next frame while it plays
  telling = 0; // the timer after which the host hears what a reader opened in a run
  heard = "";
  moments = 0; // of a run, as they were when it was last updated
  isUnasked = false; // whether it plays by itself
  declare kind: KindData;
  declare plan: PlayerPlan;
  declare layout: { tiles: Tile[]; width: number; height: number };

  constructor() {
    super();
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value) - 1));
    this.root.classList.add("hl-player");
    this.root.append(
      this.frame, this.says,
      make("div", { class: "hl-player-controls" }, this.back, this.play, this.on, this.slider,
        this.count, this.kinds),
      this.about, this.board,
      make("div", { class: "hl-foot" }, this.saveButtons()),
      make("div", { class: "hl-unseen" }, this.table), this.live,
    );
    this.listen();
  }

  listen() {
    this.root.addEventListener("keydown", (event) => {
      const inTiles = event.composedPath().includes(this.board);
      const isRange = event.target === this.slider;
      const acts = !isShortcut(event) && (inTiles ? this.pressTile(event.key)
        : !isRange && event.target !== this.play && this.press(event.key));
      if (acts) event.preventDefault();
    });
    this.stage.addEventListener("click", (event) => this.pick(event));
    this.stage.addEventListener("pointermove", (event) => this.point(event));
    this.stage.addEventListener("pointerleave", () => this.note(null, []));
    this.tiles.addEventListener("pointermove", (event) => this.pointTile(this.tileUnder(event)));
    this.tiles.addEventListener("pointerleave", () => this.pointTile(null));
    this.tiles.addEventListener("click", (event) => {
      const tile = this.tileUnder(event);
      if (tile) this.open(tile);
    });
    this.board.addEventListener("blur", () => this.pointTile(null));
    /** A reader who acts is not played under. */
    const stop = (event: Event) => {
      if (this.isUnasked && !event.composedPath().includes(this.root)) this.pause();
    };
    for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, stop, true);
    const remove = this.unwatch;
    this.unwatch = () => {
      remove();
      cancelAnimationFrame(this.timer);
      for (const name of ["pointerdown", "keydown"]) document.removeEventListener(name, stop, true);
    };
  }

  update() {
    const { data } = this;
    const isNew = this.setTexts([data.source, data.written, data.arrival, data.training.length,
      data.kind, data.training.length ? 0 : data.kinds.map(({ selected }) => selected)]);
    const before = this.kind?.kind;
    const wanted = isNew ? data.kind : before;
    this.kind = data.kinds.find(({ kind }) => kind === wanted) ?? data.kinds[0];
    if (isNew || !this.selected[this.kind.kind]) {
      for (const { kind, selected: [layer, head] } of data.kinds) {
        this.selected[kind] = { kind, layer, head };
      }
    }
    this.root.setAttribute("aria-label", data.title);
    this.kinds.replaceChildren(...data.kinds.map(({ kind, name, color }) => {
      const { input, label } = choice({ type: "radio", name: "hl-player-kind", value: kind }, name);
      input.checked = kind === this.kind.kind;
      input.style.accentColor = color;
      input.addEventListener("change", () => this.choose(kind));
      return label;
    }));
    this.describe();
    if (isNew) this.begin();
    else {
      const isFollowed = this.moments > 0 && this.step === this.moments - 1;
      this.step = isFollowed ? this.last : within(this.step, 0, this.last);
    }
    this.moments = data.training.length;
  }

  describe() {
    const { data } = this;
    const heads = data.kinds.reduce((sum, { layers, heads: count }) => sum + layers * count, 0);
    const outside = data.outside ? ` The picture leaves out ${data.outside}.` : "";
    this.aboutHeads = "A head decides, for each word, which words to look at. This model "
      + `has ${heads} heads. Point at a tile to watch another head.${outside}`;
    const rows = data.steps.map(({ options, taken }, n) => [String(n + 1), data.written[n + 1],
      number(options[taken].p), options.filter((_, index) => index !== taken)
        .map(({ label, p }) => `${label} ${number(p)}`).join(", ")]);
    fillTable(this.table, data.title, data.training.length
      ? ["Step of the training", "What the model writes"]
      : ["Step", "Subword", "Probability", "Other subwords"],
    data.training.length ? data.training.map(({ number: n, written }) => [String(n), written ?? ""])
      : rows);
  }

  /** Begin with the step of a link, else play once; with reduced motion it stands finished. */
  begin() {
    cancelAnimationFrame(this.timer);
    this.timer = 0;
    this.isUnasked = false;
    const isRun = this.data.training.length > 0;
    const step = isRun ? this.data.moment ?? -1 : this.linked();
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.part = 1;
    if (step >= 0 && step <= this.last) this.step = step;
    else if (still || this.last === 0) this.step = this.last;
    else {
      this.step = 0;
      this.part = 0;
      this.isUnasked = true;
      queueMicrotask(() => this.start());
    }
    this.heard = JSON.stringify({ ...this.choice, moment: step >= 0 ? step : this.last });
  }

  linked() {
    const query = new URLSearchParams(window.location.search);
    const [kind, layer, head] = (query.get(HEAD_NAME) ?? "").split("-");
    const linked = this.data.kinds.find((other) => other.kind === kind);
    if (linked && +layer >= 1 && +layer <= linked.layers && +head >= 1 && +head <= linked.heads) {
      this.selected[kind] = { kind: linked.kind, layer: +layer - 1, head: +head - 1 };
      this.kind = linked;
    }
    const step = Number(query.get(STEP_NAME));
    return Number.isInteger(step) ? step - 1 : -1;
  }

  get choice() {
    return { ...this.selected[this.kind.kind], moment: this.step };
  }

  /** Tell the host what is open of a run, once the reader rests. */
  tell() {
    const chosen = JSON.stringify(this.choice);
    if (this.timer || !this.root.isConnected || chosen === this.heard) return;
    this.heard = chosen;
    this.options.onSelect?.(this.choice);
  }

  get last() {
    return momentsOf(this.data, this.kind) - (this.data.training.length ? 1 : 0);
  }

  get moment() {
    const { data, plan, theme, measure, kind, part } = this;
    const isSearch = !data.training.length;
    const all = !isSearch || this.step >= this.last;
    const head = this.pointed ?? this.selected[kind.kind];
    return {
      data, plan, theme, measure, kind, head, step: this.step, all,
      part: all && isSearch ? 1 : part, word: this.word,
    };
  }

  start() {
    if (this.step >= this.last && this.part === 1) [this.step, this.part] = [0, 0];
    const begun = performance.now() - (this.part === 1 ? STEP : 0);
    const first = this.step;
    this.play.textContent = "❚❚ Pause";
    this.says.setAttribute("aria-live", "off"); // a reader of the screen would not come after it
    const frame = (now: number) => {
      const over = Math.max(0, now - begun);
      this.step = Math.min(first + Math.floor(over / STEP), this.last);
      this.part = 1 - (1 - Math.min(1, (over % STEP) / MOVE)) ** 3; // slower towards the end
      const ends = this.step >= this.last && (!this.data.training.length || this.part === 1);
      if (ends) this.pause();
      else this.timer = requestAnimationFrame(frame);
      this.draw();
    };
    this.timer = requestAnimationFrame(frame);
  }

  pause() {
    cancelAnimationFrame(this.timer);
    this.timer = 0;
    this.isUnasked = false;
    this.part = 1;
    this.play.textContent = "▶ Play";
    this.says.setAttribute("aria-live", "polite");
    this.draw();
    this.keep();
  }

  go(step: number) {
    this.step = within(step, 0, this.last);
    this.pause();
  }

  choose(kind: Kind) {
    this.kind = this.data.kinds.find((other) => other.kind === kind) ?? this.kind;
    this.step = within(this.step, 0, this.last);
    this.layOut();
    this.keep();
  }

  open({ layer, head }: { layer: number; head: number }) {
    const { kind } = this.kind;
    this.selected[kind] = { kind, layer, head };
    this.draw();
    this.keep();
  }

  /** Keep step and head in the address, without an entry of the history for each. */
  keep() {
    if (this.data.training.length) {
      clearTimeout(this.telling);
      this.telling = window.setTimeout(() => this.tell(), REST);
      return;
    }
    if (window.frameElement || !this.root.isConnected) return;
    const url = new URL(window.location.href);
    const { kind, layer, head } = this.selected[this.kind.kind];
    const [first, second] = this.kind.selected;
    const isFirst = kind === this.data.kind && layer === first && head === second;
    if (isFirst) url.searchParams.delete(HEAD_NAME);
    else url.searchParams.set(HEAD_NAME, `${kind}-${layer + 1}-${head + 1}`);
    if (this.step >= this.last) url.searchParams.delete(STEP_NAME);
    else url.searchParams.set(STEP_NAME, String(this.step + 1));
    History.prototype.replaceState.call(history, history.state, "", url);
  }

  arrange(width: number) {
    this.plan = planPlayer(this.data, width, this.measure);
    this.bars.hidden = !this.plan.bars;
    // on a phone they stand below the tiles
    if (this.plan.bars?.beside) this.tip.before(this.bars);
    else this.board.after(this.bars);
    const whole = this.data.training.length > 0;
    this.layout = planTiles(this.kind, width, whole);
    // room for the longest sentence, so that nothing moves while it plays
    const longest = Math.max(0, ...this.data.training.map((_, step) =>
      this.measure(this.runSentence(step), SAYS, 400)));
    this.says.style.minHeight = whole ? `${1.6 * Math.ceil(longest / (0.95 * width))}em` : "";
  }

  draw() {
    if (!this.plan || !this.theme) return;
    const { plan, theme, moment, layout } = this;
    paint(sized(this.stage, plan.width, plan.height), stageMarks(moment), theme.font);
    if (plan.bars) {
      const marks = barMarks(moment);
      this.bars.hidden = !plan.bars.beside && !marks.length; // no empty space on a phone
      this.bars.style.visibility = marks.length ? "" : "hidden"; // beside, they keep their place
      paint(sized(this.bars, plan.bars.width, plan.bars.height), marks, theme.font);
    }
    const tiles = {
      ...moment, tiles: layout.tiles, selected: this.selected[this.kind.kind],
      pointed: this.pointed,
    };
    paint(sized(this.tiles, layout.width, layout.height), tileMarks(tiles), theme.font);
    const shown = within(this.step, 0, this.last);
    this.slider.max = String(this.last + 1);
    this.slider.value = String(shown + 1);
    this.slider.setAttribute("aria-valuetext", this.sentence());
    this.count.textContent = this.data.training.length
      ? `step ${this.data.training[shown].number.toLocaleString("en")}`
      : shown >= this.last ? "all" : `${shown + 1} of ${this.last}`;
    this.back.disabled = shown === 0;
    this.on.disabled = shown === this.last;
    const sentence = this.sentence();
    if (sentence !== this.says.textContent) this.says.textContent = sentence;
    const loss = this.data.training[shown]?.loss ?? "";
    const about = `${this.aboutHeads} ${loss}`;
    if (about !== this.about.textContent) this.about.textContent = about;
    this.board.setAttribute("aria-label", `${this.kind.name}: a tile for each head. ${HELP}`);
  }

  sentence() {
    const { data, kind, moment: { head, step, all } } = this;
    const name = `${kind.name} L${head.layer + 1} H${head.head + 1}`;
    if (data.training.length) return this.runSentence(step);
    if (all) {
      return kind.kind === "cross" && data.links.length
        ? "All words at once: which words belong together, as the heads show it."
        : `All words at once: where ${name} looks.`;
    }
    const row = rowBetween(kind, head, step, 1);
    const key = strongest(row);
    const rest = data.outside ? 1 - row.reduce((sum, weight) => sum + weight, 0) : 0;
    const looked = rest > row[key] ? "what the picture leaves out"
      : quote((kind.kind === "decoder_self" ? data.written : data.source)[key]);
    const doing = kind.kind === "encoder_self" ? `To read ${quote(data.source[step])}`
      : `To write ${quote(data.written[step + 1])}`;
    return `${doing}, ${name} looks at ${looked} (${percent(Math.max(rest, row[key]))}).`;
  }

  runSentence(step: number) {
    const { number: n, written } = this.data.training[step];
    const steps = `${n.toLocaleString("en")} ${n === 1 ? "step" : "steps"}`;
    if (written === null) return `The heads after ${steps} of training.`;
    return `After ${steps} the model writes ${written ? quote(written) : "nothing"}`;
  }

  press(key: string): boolean {
    if (key === " ") {
      if (this.timer) this.pause();
      else this.start();
    } else if (key === "ArrowLeft") this.go(this.step - 1);
    else if (key === "ArrowRight") this.go(this.step + 1);
    else if (key === "Home") this.go(0);
    else if (key === "End") this.go(this.last);
    else return false;
    return true;
  }

  pressTile(key: string): boolean {
    const { layer, head } = this.pointed ?? this.selected[this.kind.kind];
    if ((key === "Enter" || key === " ") && this.pointed) {
      this.open(this.pointed);
    } else if (key in ARROWS) {
      const [right, down] = ARROWS[key];
      this.pointTile({
        kind: this.kind.kind, layer: within(layer + down, 0, this.kind.layers - 1),
        head: within(head + right, 0, this.kind.heads - 1),
      });
      this.live.textContent = this.sentence();
    } else if (key === "Escape") this.pointTile(null);
    else return false;
    return true;
  }

  tileUnder(event: PointerEvent | MouseEvent): Head | null {
    const [x, y] = pointIn(event, this.tiles);
    const tile = this.layout.tiles.find((place) => Math.abs(x - place.x - place.width / 2)
      < place.width / 2 + 3 && y >= place.y - 2 && y < place.y + place.height + 3);
    return tile ? { kind: this.kind.kind, layer: tile.layer, head: tile.head } : null;
  }

  pointTile(head: Head | null) {
    if (JSON.stringify(head) === JSON.stringify(this.pointed)) return;
    this.pointed = head;
    this.draw();
  }

  under(event: PointerEvent | MouseEvent) {
    const [x, y] = pointIn(event, this.stage);
    for (const side of ["source", "written"] as const) {
      const index = this.plan[side].findIndex((place) => x >= place.x - 4
        && x < place.x + place.width + 4 && y >= place.y && y < place.y + this.plan.high);
      if (index >= 0) return { side, index };
    }
    return null;
  }

  keyOf({ side, index }: { side: string; index: number }) {
    const own = this.kind.kind === "decoder_self" ? "written" : "source";
    return side === own ? index : -1;
  }

  point(event: PointerEvent) {
    const at = this.under(event);
    const { kind, head, step, all } = this.moment;
    const key = at ? this.keyOf(at) : -1;
    this.stage.style.cursor = at && !this.data.training.length ? "pointer" : "";
    if (at && !all && key >= 0 && key < kind.size[1]) {
      this.note(at, [[this.data[at.side][at.index], rowBetween(kind, head, step, 1)[key]]]);
    } else if (at && all && linksShown(this.moment)) this.note(at, partnersOf(this.data, at));
    else this.note(null, []);
  }

  note(word: Word | null, values: [word: string, value: number][]) {
    if (JSON.stringify(word) !== JSON.stringify(this.word)) {
      this.word = word;
      this.draw();
    }
    this.tip.hidden = !word || !values.length;
    if (!word || !values.length) return;
    this.tip.replaceChildren(...values.map(([text, value]) =>
      make("span", {}, quote(text), make("strong", {}, number(value)), " ")));
    const { x, y, width } = this.plan[word.side][word.index];
    placeTip(this.tip, this.frame,
      { left: x, top: y, right: x + width, bottom: y + this.plan.high });
  }

  /** Go to the step of a word, or down into the numbers of the row that is drawn. */
  pick(event: MouseEvent) {
    const at = this.under(event);
    if (!at || this.data.training.length) return;
    const { kind, head, step, all } = this.moment;
    const steps = kind.kind === "encoder_self" ? "source" : "written";
    const key = this.keyOf(at);
    if (!all && key >= 0 && key < kind.size[1] && this.options.onSelect) {
      this.options.onSelect({ ...head, query: step, key });
    } else if (at.side === steps) this.go(at.index - (steps === "written" ? 1 : 0));
  }

  sheet() {
    const { data, plan, moment, kind } = this;
    const head = this.selected[kind.kind];
    const beside = plan.bars?.beside ? BARS.gap + BARS.width : 0;
    const bars = beside ? [group(barMarks(moment), { x: plan.width + BARS.gap })] : [];
    const step = data.training[this.step]?.number ?? this.step + 1;
    return {
      name: `${kind.name} l${head.layer + 1} h${head.head + 1} step ${step}`,
      title: data.title, width: plan.width + beside, height: plan.height,
      marks: [...stageMarks(moment), ...bars], note: this.sentence(),
    };
  }
}

const HELP = "The arrow keys move from head to head, Enter opens one, Escape goes back.";
