// The first page of a site: the pictures of a sentence as it is typed. They are drawn in short
// tasks, and a newer sentence ends those of an older one, so that typing never waits.

import { bringIntoView, button, choice, make } from "../core/dom.ts";
import { headName, SCREEN_NAMES } from "../core/labels.ts";
import { paletteOf } from "../core/palette.ts";
import { forHand } from "../core/text.ts";
import { mount } from "../core/view.ts";
import type { About, HeadPlace, KindTrace, Trace } from "../core/trace.ts";
import type { Ordered } from "../engine/messages.ts";
import { Explorer } from "../explorer.ts";
import { explorerData } from "../explorer_from_trace.ts";
import type { PlayerData } from "../player/plan.ts";
import { type PlayerChoices, playerData, watchedHead, WINDOW } from "../player/from_trace.ts";
import { Player } from "../player/view.ts";
import { linkData, wordLinks } from "../word_links/from_trace.ts";
import type { LinkData } from "../word_links/plan.ts";
import { WordLinks } from "../word_links/view.ts";
import { readLink, writeLink } from "./address.ts";
import { Breaking } from "./breaking.ts";
import { type LiveData, storedAt } from "./data.ts";
import { Editing } from "./editing.ts";
import { showChips } from "./chips.ts";
import { hold } from "./held.ts";
import { type Activity, type Listener, LiveSentence } from "./sentence.ts";
import { Tasks } from "./tasks.ts";
import { changedRow } from "../player/changes.ts";

const REST = 300; // ms after which what is shown is written into the address
const PAUSE = 3_000; // ms after which typing on, or removing one head more, is another act

const OPEN = ".hl-explorer-open > div"; // the large map
const at = (id: string) => document.getElementById(id) as HTMLElement;
const same = (a: HeadPlace, b: HeadPlace) => String(a) === String(b);

/** Choose the head of the cross-attention that opens first. */
export function firstHead(trace: Trace, about: About): HeadPlace {
  const cross = trace.kinds.find(({ kind }) => kind === "cross") as KindTrace;
  return ["cross", ...watchedHead(trace, cross, wordLinks(trace, about))];
}

export class LivePage implements Listener {
  sentence: LiveSentence;
  open: HeadPlace | null = null; // of all pictures; null for the head that opens first
  direction = -1; // of the open head
  trace: Trace | null = null; // that is drawn
  first: Trace | null = null; // that is stored
  player?: Player;
  explorer?: Explorer;
  tasks = new Tasks();
  clicked = 0; // number of the last click on a small map that removes its head
  removes = false; // whether a click on a small map removes its head
  rest = 0; // a timer
  doing: Activity = ""; // what a visitor does
  resting: Activity = ""; // how what it waits for was made
  written = { replaces: true, act: "", at: 0 }; // of the address
  drawn = ""; // the sentence and its direction
  played = ""; // and that of the player
  watched: PlayerChoices["selected"]; // its heads
  kinds: KindTrace[] = [];
  count = make("span", { class: "headlight-unseen", role: "status" });
  named = ""; // the removed heads
  gone = make("span", { class: "done", role: "group", "aria-label": "Removed heads" });
  head = button("", () => this.open && this.toggle(this.open));
  layer = button("Remove its whole layer", () => this.removeLayer());
  editing: Editing;
  breaking: Breaking;

  constructor(data: LiveData) {
    this.sentence = new LiveSentence(data, this);
    this.breaking = new Breaking(at("breaking"), this.sentence);
    this.editing = new Editing(at("editing"), {
      rows: () => this.sentence.edits.rows,
      change: (rows) => this.sentence.edit({ rows }),
      redraw: () => this.sentence.shown && this.drawHeads(this.sentence.shown),
    });
    const { input, label } = choice({ type: "checkbox" },
      forHand("Click a small map to remove its head"));
    input.addEventListener("change", () => {
      this.removes = input.checked;
      if (this.sentence.shown) this.drawHeads(this.sentence.shown);
    });
    at("removal").append(label, this.head, this.layer, this.count, this.gone);
    hold(at("now"), document.querySelectorAll("#live > section, #notes, .choices"));
    addEventListener("popstate", () => this.follow());
  }

  async begin() {
    const { sentence } = this;
    const first = await storedAt(0);
    this.kinds = first.kinds;
    this.follow();
    this.first = first;
    await sentence.begin();
    if (!sentence.engine) this.onFailed();
  }

  /** Without a model, a stored sentence still plays. */
  onFailed() {
    if (this.trace || !this.first) return;
    this.sentence.pictured = this.first.source.text;
    this.draw(this.first);
  }

  /** Show what the address names. */
  follow() {
    const { sentence, sentence: { data: { directions, stored: [first] }, field } } = this;
    const link = readLink(window.location.search, this.kinds);
    const from = directions.findIndex(({ about }) => about.languages[0].code === link.from);
    const direction = from >= 0 ? from : first.direction;
    const text = direction === first.direction ? field.defaultValue
      : directions[direction].examples[0]?.text;
    const { removed, rows, prefix } = link;
    this.written = { replaces: true, act: "", at: 0 };
    window.clearTimeout(this.rest);
    this.rest = 0;
    if (link.head) [this.open, this.direction] = [link.head, direction];
    sentence.go(direction, link.text || text || "", { removed, rows, prefix }, link.problem);
  }

  get about() {
    return this.sentence.about.about;
  }

  onTrace(trace: Trace) {
    const drawn = `${this.sentence.direction} ${trace.source.text}`;
    const { style } = at("now");
    style.minHeight = drawn === this.drawn ? `${at("now").offsetHeight}px` : ""; // it never shrinks
    if (drawn !== this.drawn) this.breaking.reset();
    this.drawn = drawn;
    this.editing.update(trace);
    this.breaking.follow();
    this.describe();
    this.draw(trace);
    window.clearTimeout(this.rest);
    this.resting = this.act;
    this.rest = window.setTimeout(() => this.keep(this.resting), REST);
  }

  /** Keep what is shown before another act: Back leads to it, however soon that comes. */
  onAct(act: Activity) {
    this.player?.wait();
    this.doing = act;
    if (this.rest && (!this.act || this.act !== this.resting)) this.keep(this.resting);
  }

  onOriginal() {
    this.breaking.follow();
  }

  onOrdered(answer: Ordered) {
    this.breaking.hear(answer);
    this.sentence.compare();
  }

  random() {
    return this.breaking.random();
  }

  redraw() {
    if (this.trace) this.draw(this.trace);
  }

  /** Draw all pictures, in short tasks. */
  draw(trace: Trace) {
    const { tasks, tasks: { later } } = this;
    this.trace = trace;
    if (!this.open || this.direction !== this.sentence.direction) { // another model, other heads
      this.open = firstHead(trace, this.about);
      this.direction = this.sentence.direction;
    }
    tasks.queue = [];
    for (const { kind } of trace.kinds) later(() => void paletteOf(kind)); // computed once
    later(() => this.drawPlayer(trace));
    later(() => this.drawLinks(trace));
    later(() => this.drawHeads(trace));
    later(() => {
      for (const name of ["maps", "drawn"]) {
        performance.clearMarks(name);
        performance.mark(name);
      }
    });
  }

  drawPlayer(trace: Trace) {
    const { sentence: { whole, isEdited }, drawn, played } = this;
    // what is edited, or given back, stands there at once
    const row = whole && (isEdited || drawn === played)
      ? changedRow(whole.target, trace.target, WINDOW) : undefined;
    const [kind, ...head] = this.open as HeadPlace;
    // and the heads of the other kinds stay, too
    const selected = { ...drawn === played ? this.watched : {}, [kind]: head };
    this.played = drawn;
    const data = { ...playerData(trace, this.about, { kind, selected }), opens: true, row };
    this.watched = Object.fromEntries(data.kinds.map((part) => [part.kind, part.selected]));
    const { later } = this.tasks;
    later(() => {
      this.player = mount<PlayerData, Player>(at("watch"), Player, data, {
        later,
        onSelect: ({ kind: chosen, layer, head: number, query, written }) => {
          if (written) this.sentence.translation.fill(written);
          else this.openHead([chosen, layer, number]);
          if (query !== undefined) bringIntoView(OPEN); // a ribbon
        },
      });
    });
  }

  drawLinks(trace: Trace) {
    const data = linkData(trace, this.about);
    const place = at("links").firstElementChild as HTMLElement;
    place.hidden = !data.links.length; // of some models they cannot be read in the page
    if (data.links.length) mount<LinkData, WordLinks>(place, WordLinks, data, this.tasks);
  }

  drawHeads(trace: Trace) {
    const look = { paints: this.editing.isOn, paintsDown: true };
    const data = explorerData(trace, this.about, this.open as HeadPlace, look);
    // always in the same order
    data.grid.parts.sort((a, b) => Number(a.kind !== "cross") - Number(b.kind !== "cross"));
    data.grid.switches = this.removes;
    data.grid.answered = this.clicked;
    this.explorer = mount(at("explorer"), Explorer, data, {
      onSelect: (selected) => this.onExplorer(selected), later: this.tasks.later,
    });
    this.describe();
  }

  onExplorer(selected: any) {
    const { open, removes, sentence: { shown, isLive } } = this;
    if (selected.squares) {
      const part = shown?.kinds.find(({ kind }) => kind === open?.[0]);
      if (!open || !part || !isLive) return;
      this.editing.paint(open, selected.squares, selected.keys.length, part.causal);
    } else if (removes && selected.length > 3) {
      this.clicked = selected[3];
      this.toggle(selected.slice(0, 3));
    } else {
      this.openHead(selected);
      bringIntoView(OPEN);
    }
  }

  /** Show one head everywhere. */
  openHead(place: HeadPlace) {
    if (this.open && same(this.open, place)) return;
    this.open = place;
    this.explorer?.openHead(place);
    if (this.trace) this.drawPlayer(this.trace);
    this.describe();
    const { shown, field } = this.sentence;
    if (shown?.source.text === field.value) this.keep(this.act); // else the next one is on its way
  }

  get removed() {
    return this.sentence.edits.removed;
  }

  remove(removed: HeadPlace[]) {
    this.sentence.edit({ removed });
    this.describe();
  }

  toggle(place: HeadPlace) {
    const others = this.removed.filter((other) => !same(other, place));
    this.remove(others.length < this.removed.length ? others : [...this.removed, place]);
  }

  removeLayer() {
    if (!this.open) return;
    const [kind, layer] = this.open;
    const part = this.sentence.shown?.kinds.find((other) => other.kind === kind);
    const places = Array.from({ length: part?.heads ?? 0 }, (_, head): HeadPlace =>
      [kind, layer, head]);
    this.remove([...this.removed.filter((other) => !places.some((place) => same(place, other))),
      ...places]);
  }

  describe() {
    const { open, removed, head, count, sentence: { isLive } } = this;
    for (const id of ["breaking", "removal", "editing"]) at(id).hidden = !isLive;
    if (open) {
      const name = headName(open[1], open[2]);
      head.textContent = removed.some((place) => same(place, open)) ? `Give ${name} back`
        : `Remove ${name}`;
    }
    const text = removed.length === 0 ? "" : removed.length === 1 ? "1 head is removed."
      : `${removed.length} heads are removed.`;
    if (count.textContent !== text) count.textContent = text;
    if (this.named === String(removed)) return; // else a button would lose the focus
    this.named = String(removed);
    showChips(this.gone, "Removed:", removed.map((place) => ({
      text: `${SCREEN_NAMES[place[0]]} ${headName(place[1], place[2])}`,
      undo: () => this.toggle(place),
    })));
  }

  /** What is being done, of which the address keeps the end alone. */
  get act(): Activity {
    return this.doing || (this.breaking.wanted ? "breaking" : "");
  }

  /** Keep in the address what is shown; Back takes back one act after another. */
  keep(act: Activity) {
    const { open, written, sentence: { languages, shown, shownEdits } } = this;
    window.clearTimeout(this.rest);
    this.rest = 0;
    if (!shown) return; // the field may be further already
    const goesOn = act && act === written.act && performance.now() - written.at < PAUSE;
    this.written = { replaces: false, act, at: performance.now() };
    writeLink({ text: shown.source.text, from: languages[0].code, head: open, ...shownEdits },
      written.replaces || Boolean(goesOn));
  }
}
