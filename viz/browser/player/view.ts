// A player: a translation that is written subword by subword, or heads that form in training. Each
// moment has the ribbons of one head, a tile for every head, and a sentence that says what happens.
// Everything is stepped here, without the host.

import { paint, sized } from "../core/canvas.ts";
import { button, fillRadios, fillTable, framed, isShortcut, isStill, make } from "../core/dom.ts";
import { group } from "../core/scene.ts";
import { getValue, subscribe } from "../core/store.ts";
import { within } from "../core/text.ts";
import { type Options, View } from "../core/view.ts";
import * as address from "./address.ts";
import { BreakIt, type Broken } from "./break_it.ts";
import { barMarks, linksShown, type Moment, stageMarks } from "./marks.ts";
import { type Numbers, NumbersPanel } from "./numbers.ts";
import { playerData } from "./from_trace.ts";
import {
  BARS, type Head, type KindData, momentsOf, paceOf, planPlayer, type PlayerData, type PlayerPlan,
} from "./plan.ts";
import { Pointer } from "./pointer.ts";
import { Scrolling } from "./scrolling.ts";
import { purposeOf, sentenceOf, tableOf, titleOf } from "./sentences.ts";
import { Tiles } from "./tiles.ts";
import type { Kind } from "../core/trace.ts";

const SAYS = 17; // CSS pixels of the sentence
const MOVE = 0.58; // of the time of a subword, in which its words and ribbons move
const TOLD = 0.7; // of the part of a step from which its words are told
const NO_SIZE: KindData["size"] = [0, 0];
const NO_MAPS = { weights: new Float32Array(0), whole: NO_SIZE, size: NO_SIZE }; // yet to come
const REST = 400; // ms after the last change of a run until the host hears of it
const PLAY = "▶ Play";
const BOX = ".st-key-text, #text"; // of a host: the sentence, which plays anew as it is typed
/** What the host sends apart from the picture, by the names in the store. */
export const BROKEN = "player-broken";
export const NUMBERS = "player-numbers";

export class Player extends View<PlayerData> {
  stage = make("canvas", { "aria-hidden": "true" });
  scroll = make("div", { class: "hl-scroll hl-player-scroll", tabindex: "0", role: "group",
    "aria-label": "Words and ribbons" }, this.stage);
  says = make("p", { class: "hl-player-says", "aria-live": "polite" });
  back = button("◀", () => this.go(this.step - 1), { "aria-label": "One step back" });
  play = button(PLAY, () => (this.timer ? this.pause() : this.start()), {
    class: "hl-player-play" });
  on = button("▶|", () => this.go(this.step + 1), { "aria-label": "One step on" });
  slider = make("input", { type: "range", min: 1, step: 1, "aria-label": "Step" });
  count = make("span", { class: "hl-player-count" });
  kinds = make("span", { role: "radiogroup", "aria-label": "Attention" });
  shows = make("span", { role: "radiogroup", "aria-label": "Ribbons" });
  about = make("p", { class: "hl-player-about" });
  numbers = new NumbersPanel(() => {
    this.showNumbers(null);
    this.options.onSelect?.({ closed: true });
  });
  breaking = new BreakIt({
    changed: () => this.layOut(),
    ask: (count) => this.askBroken(count),
  });
  tiles = new Tiles(this);
  pointer: Pointer = new Pointer(this);
  bars = make("canvas", { class: "hl-player-bars", "aria-hidden": "true" });
  scrolling = new Scrolling(this.scroll);
  band = framed(this.scroll);
  frame = make("div", { class: "hl-frame hl-player-stage" }, this.band, this.bars,
    this.numbers.root, this.pointer.tip);
  table = make("table");
  ribbons: "head" | "links" = "head";
  selected: Record<string, Head> = {}; // by kind
  step = 0; // the last one: all at once, where there is a search
  part = 1; // of the step that is over
  timer = 0; // the next frame while it plays
  telling = 0; // the timer after which the host hears what a reader opened in a run
  heard = "";
  moments = 0; // of a run, as they were when it was last updated
  isUnasked = false; // whether it plays by itself
  written = Infinity; // subwords that the host shows as written
  isAll = false; // whether all words at once are laid out
  place = ""; // page and sentence in the address
  declare kind: KindData;
  declare plan: PlayerPlan;

  static read({ trace, about, ...choices }: any): PlayerData {
    return playerData(trace, about, choices);
  }

  constructor() {
    super();
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value) - 1));
    this.root.classList.add("hl-player");
    this.root.append(
      this.frame, this.says,
      make("div", { class: "hl-player-controls" }, this.back, this.play, this.on, this.slider,
        this.count, this.shows, this.kinds, make("div", { class: "hl-foot" }, this.saveButtons())),
      this.about, this.tiles.root, this.breaking.root,
      make("div", { class: "hl-unseen" }, this.table), this.live,
    );
    this.listen();
  }

  listen() {
    this.root.addEventListener("keydown", (event) => {
      const inTiles = event.composedPath().includes(this.tiles.root);
      const isOwn = event.target !== this.play && event.target !== this.slider
        && !event.composedPath().some((element) =>
          element === this.breaking.root || element === this.numbers.root);
      const acts = !isShortcut(event) && (inTiles ? this.tiles.press(event.key)
        : isOwn && this.press(event.key));
      if (acts) event.preventDefault();
    });
    const stop = (event: Event) => this.stop(event);
    for (const name of ["pointerdown", "keydown"]) document.addEventListener(name, stop, true);
    const forget = [
      subscribe(BROKEN, (broken: Broken | null) => this.follow(broken)),
      subscribe(NUMBERS, (numbers: Numbers | null) => this.showNumbers(numbers)),
      address.afterHost(() => this.timer || this.place !== address.placeOf() || this.keep()),
      () => this.breaking.stop(),
    ];
    const remove = this.unwatch;
    this.unwatch = () => {
      remove();
      for (const act of forget) act();
      cancelAnimationFrame(this.timer);
      for (const name of ["pointerdown", "keydown"]) document.removeEventListener(name, stop, true);
    };
  }

  /** Let a reader who acts elsewhere find the whole sentence; one who types gets the next. */
  stop(event: Event) {
    const path = event.composedPath();
    const types = event.type === "keydown"
      && path.some((node) => node instanceof Element && node.matches(BOX));
    if (this.isUnasked && !types && !path.includes(this.root)) this.go(this.last);
  }

  update() {
    const { data } = this;
    // of a host that opens heads, another one is not another picture
    const chosen = [data.kind, data.kinds.map(({ selected }) => selected)];
    const isNew = this.setTexts([data.source, data.written, data.arrival, data.training.length,
      data.opens || data.training.length ? 0 : chosen]);
    const before = this.kind?.kind;
    const wanted = isNew || data.opens ? data.kind : before;
    this.kind = data.kinds.find(({ kind }) => kind === wanted) ?? data.kinds[0];
    if (isNew || data.opens || !this.selected[this.kind.kind]) {
      for (const { kind, selected: [layer, head] } of data.kinds) {
        this.selected[kind] = { kind, layer, head };
      }
    }
    this.root.setAttribute("aria-label", data.title);
    fillRadios(this.kinds, "hl-player-kind", data.kinds.map(({ kind, name, color }) =>
      [kind, name, color]), (kind) => this.choose(kind));
    fillRadios(this.shows, "hl-player-shows", data.links.length
      ? [["head", "this head"], ["links", "word links"]] : [], (name) => this.showRibbons(name));
    fillTable(this.table, data.title, ...tableOf(data));
    this.breaking.root.hidden = !data.breaks;
    if (isNew) this.begin();
    else {
      const isFollowed = this.moments > 0 && this.step === this.moments - 1;
      this.step = isFollowed || this.isAll ? this.last : within(this.step, 0, this.last);
    }
    this.check();
    this.moments = data.training.length;
  }

  show(data: PlayerData, options: Options) {
    super.show(data, options);
    // once all pictures are drawn: a frame that moves this one, too, would be the longest task
    queueMicrotask(() => this.later(() => this.isUnasked && !this.timer && this.start()));
  }

  /** Begin with the step of a link, else play once; with reduced motion it stands finished. */
  begin() {
    this.rest();
    this.place = address.placeOf();
    this.ribbons = "head";
    const step = this.data.training.length ? this.data.moment ?? -1 : this.linked();
    this.showNumbers(getValue(NUMBERS) ?? null);
    this.follow(getValue(BROKEN) ?? null);
    this.part = 1;
    if (step >= 0 && step <= this.last) this.step = step;
    else if (isStill() || this.data.row || this.last === 0) this.step = this.last;
    else {
      this.step = 0;
      this.part = 0;
      this.isUnasked = true;
    }
    this.heard = JSON.stringify(this.data.training.length
      ? { ...this.choice, moment: step >= 0 ? step : this.last } : { watched: null });
  }

  linked() {
    const linked = address.readAddress(this.data);
    if (linked.head && !this.data.opens) {
      this.selected[linked.head.kind] = linked.head;
      this.kind = this.data.kinds.find(({ kind }) => kind === linked.head?.kind) ?? this.kind;
    }
    this.breaking.begin(this.data.breaks ? linked.broken : null);
    if (linked.links && this.data.links.length) this.ribbons = "links";
    // what is removed changes the whole sentence
    return this.ribbons === "links" || this.breaking.isOpen ? this.last : linked.step;
  }

  /** What the host hears: of a run, head and moment; else the head, unless it is the first. */
  get choice() {
    const { kind, layer, head } = this.selected[this.kind.kind];
    if (this.data.training.length) return { kind, layer, head, moment: this.step };
    const [first, second] = this.kind.selected;
    const isFirst = kind === this.data.kind && layer === first && head === second;
    return { watched: isFirst ? null : `${kind}-${layer + 1}-${head + 1}` };
  }

  /** Tell the host what is open, once the reader rests. */
  tell() {
    const chosen = JSON.stringify(this.choice);
    if (this.timer || !this.root.isConnected || chosen === this.heard) return;
    this.heard = chosen;
    this.options.onSelect?.(this.choice);
  }

  get last() {
    return momentsOf(this.data, this.kind) - (this.data.training.length ? 1 : 0);
  }

  get moment(): Moment {
    const { data, plan, theme, measure, kind, part } = this;
    const isSearch = !data.training.length;
    const all = !isSearch || this.step >= this.last;
    const head = this.tiles.pointed ?? this.selected[kind.kind];
    // without some heads, it is the model without them that looks
    const now = all ? this.breaking.now : undefined;
    const maps = now?.maps?.find((other) => other.kind === kind.kind) ?? NO_MAPS;
    const removed = all ? this.breaking.removed : [];
    return {
      data: now ? { ...data, written: now.written } : data, plan, theme, measure,
      kind: now ? { ...kind, ...maps } : kind, head, step: this.step, all,
      part: all && isSearch ? 1 : part, word: this.pointer.word, near: this.pointer.ribbon,
      shows: this.tiles.pointed || now ? "head" : this.ribbons, // of a pointed tile
      removed, crossed: [...data.crossed ?? [], ...removed], writes: now?.text ?? "",
    };
  }

  start() {
    this.breaking.end();
    if (this.step >= this.last - 1 && this.part === 1) [this.step, this.part] = [0, 0];
    const pace = paceOf(this.data, this.kind);
    const begun = performance.now() - (this.part === 1 ? pace : 0);
    const first = this.step;
    this.play.textContent = "❚❚ Pause";
    this.says.setAttribute("aria-live", "off"); // a reader of the screen would not come after it
    const frame = (now: number) => {
      const before = [this.step, this.part];
      const over = Math.max(0, now - begun);
      this.step = Math.min(first + Math.floor(over / pace), this.last);
      this.part = 1 - (1 - Math.min(1, (over % pace) / (MOVE * pace))) ** 3; // slower at the end
      const ends = this.step >= this.last && (!this.data.training.length || this.part === 1);
      this.timer = requestAnimationFrame(frame);
      if (ends) this.pause();
      // between two moves nothing changes but a line that scrolls
      else if (String(before) !== String([this.step, this.part])
        || this.plan.width > this.plan.room) this.draw();
    };
    this.timer = requestAnimationFrame(frame);
  }

  rest() {
    cancelAnimationFrame(this.timer);
    this.timer = 0;
    this.isUnasked = false;
    this.play.textContent = PLAY;
    this.says.setAttribute("aria-live", "polite");
  }

  /** Stand still until the next data, which play on: their sentence is still computed. */
  wait() {
    if (!this.timer) return;
    this.rest();
    this.isUnasked = true;
  }

  pause(keeps = true) {
    this.part = 1;
    this.rest();
    this.draw();
    if (keeps) this.keep();
  }

  go(step: number) {
    this.step = within(step, 0, this.last);
    // a step is one of the whole model; where heads come back, the host begins a new address
    this.pause(this.step >= this.last || !this.breaking.end());
  }

  choose(kind: Kind) {
    const isAll = this.step >= this.last; // the kinds differ in the number of their steps
    this.kind = this.data.kinds.find((other) => other.kind === kind) ?? this.kind;
    this.step = isAll ? this.last : within(this.step, 0, this.last);
    this.layOut();
    this.keep();
    this.tellOpen();
  }

  open({ layer, head }: { layer: number; head: number }) {
    const { kind } = this.kind;
    this.selected[kind] = { kind, layer, head };
    this.showRibbons("head");
  }

  /** Let a host that opens heads open the one that is watched. */
  tellOpen() {
    if (this.data.opens) this.options.onSelect?.(this.selected[this.kind.kind]);
  }

  /** Show the ribbons of one head, or the links that one head makes between words. */
  showRibbons(name: "head" | "links") {
    this.ribbons = name;
    if (name === "links") {
      this.breaking.end(); // they are of the whole model
      this.kind = this.data.kinds.find(({ kind }) => kind === "cross") ?? this.kind;
      this.step = this.last;
    }
    this.check();
    this.layOut();
    this.keep();
    this.tellOpen();
  }

  /** Let the radio buttons stand as what is drawn. */
  check() {
    for (const input of this.root.querySelectorAll<HTMLInputElement>("input[type=radio]")) {
      input.checked = input.value === this.ribbons || input.value === this.kind.kind;
    }
  }

  /** The head whose tile is framed: that which is drawn. */
  get outlined(): Head | null {
    const { kind, head } = this.moment;
    if (!linksShown(this.moment)) return head;
    const linked = this.data.linked?.head;
    return linked ? { kind: kind.kind, layer: linked[0], head: linked[1] } : null;
  }

  askBroken(count: number | null) {
    if (count !== null) this.go(this.last);
    if (count !== null && this.ribbons === "links") this.showRibbons("head");
    this.options.onSelect?.({ broken: count });
  }

  follow(broken: Broken | null) {
    const isOurs = String(broken?.target.pieces) === String(this.data?.target?.pieces);
    this.breaking.follow(isOurs ? broken : null);
  }

  showNumbers(numbers: Numbers | null) {
    const keys = this.data?.kinds.find(({ kind }) => kind === numbers?.kind);
    if (!keys && this.numbers.root.hidden) return;
    this.numbers.show(keys ? numbers : null);
    this.layOut();
  }

  /** Keep step and head in the address, without an entry of the history for each. */
  keep() {
    const { data } = this;
    if (data.training.length || this.breaking.isOpen) { // below Break it, the way on names the head
      clearTimeout(this.telling);
      this.telling = window.setTimeout(() => this.tell(), REST);
    }
    if (data.training.length || !this.root.isConnected) return;
    address.writeAddress({
      [address.WATCHED]: data.opens ? null : this.choice.watched ?? null,
      [address.STEP]: this.step >= this.last ? null : String(this.step + 1),
      [address.RIBBONS]: this.ribbons === "links" ? "links" : null,
    });
  }

  arrange(width: number) {
    const { data, all, kind } = this.moment;
    const row = all ? this.breaking.now?.row ?? data.row : undefined;
    this.isAll = all;
    const aside = !this.numbers.root.hidden || !(all || kind.kind === "encoder_self");
    this.plan = planPlayer(data, width, this.measure, row, aside);
    this.band.style.width = `${this.plan.room}px`;
    // on a phone they stand below the tiles
    (this.plan.bars?.beside ? this.band : this.tiles.root).after(this.bars);
    this.tiles.arrange(width);
    // room for the longest sentence, so that nothing moves while it plays
    const sentences = Array.from({ length: this.last + 1 }, (_, step) =>
      sentenceOf({ ...this.moment, step, all: step >= this.last }));
    const longest = Math.max(...sentences.map((text) => this.measure(text, SAYS, 400)));
    this.says.style.minHeight = `${1.6 * Math.ceil(longest / (0.95 * width))}em`;
  }

  draw() {
    if (!this.plan || !this.theme) return;
    if (this.moment.all !== this.isAll) this.arrange(this.root.clientWidth);
    const { plan, theme, moment } = this;
    paint(sized(this.stage, plan.width, plan.height), stageMarks(moment), theme.font);
    if (plan.bars) {
      paint(sized(this.bars, plan.bars.width, plan.bars.height), barMarks(moment), theme.font);
    }
    this.bars.hidden = !plan.bars || !this.numbers.root.hidden; // the numbers stand in their place
    this.scrolling.follow(moment, this.timer > 0);
    this.tiles.draw();
    const shown = within(this.told.step, 0, this.last);
    this.slider.max = String(this.last + 1);
    this.slider.value = String(shown + 1);
    const sentence = this.sentence();
    this.slider.setAttribute("aria-valuetext", sentence);
    this.count.textContent = this.data.training.length
      ? `step ${this.data.training[shown].number.toLocaleString("en")}`
      : shown >= this.last ? "all" : `${shown + 1} of ${this.last}`;
    this.back.disabled = shown === 0;
    this.on.disabled = shown === this.last;
    if (sentence !== this.says.textContent) this.says.textContent = sentence;
    const about = this.tiles.hint || this.pointer.hint
      || `${purposeOf(moment)} ${this.data.training[shown]?.loss ?? ""}`;
    if (about !== this.about.textContent) this.about.textContent = about;
    if (this.data.opens) this.tellWritten();
  }

  /** Let the host write as far as the picture: Infinity is all. */
  tellWritten() {
    const { told: { all, step }, kind } = this;
    const count = all || kind.kind === "encoder_self" ? Infinity : step + 1;
    if (count !== this.written) this.options.onSelect?.({ written: this.written = count });
  }

  /** What is said: a step once its word stands in the picture, not while it still comes. */
  get told(): Moment {
    const { moment, moment: { step, part, all } } = this;
    return part < TOLD && step && !all && this.timer ? { ...moment, step: step - 1 } : moment;
  }

  sentence() {
    return sentenceOf(this.told);
  }

  press(key: string): boolean {
    if (this.pointer.press(key)) return true;
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

  sheet() {
    const { data, plan, moment, kind } = this;
    const beside = plan.bars?.beside ? BARS.gap + BARS.width : 0;
    const [head, x] = [this.outlined, plan.width + BARS.gap];
    const bars = beside ? [group(barMarks(moment), { x })] : [];
    const step = data.training.length ? `step ${data.training[this.step].number}`
      : moment.all ? "all words" : `step ${this.step + 1}`;
    const names = [
      linksShown(moment) ? "word links" : kind.name, head ? titleOf(head) : "both directions", step,
      ...(moment.crossed.length ? [`without ${moment.crossed.length} heads`] : []),
    ];
    return {
      name: names.join(" "), title: names.join(" · "), width: plan.width + beside,
      height: plan.height, marks: [...stageMarks(moment), ...bars], note: this.sentence(),
    };
  }
}
