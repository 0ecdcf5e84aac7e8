// The first page of a site: the pictures of a sentence as it is typed. They are drawn in short
// tasks, and a newer sentence ends those of an older one, so that typing never waits.

import { bringIntoView, button, choice, make } from "../core/dom.ts";
import { setValue } from "../core/store.ts";
import { paletteOf } from "../core/palette.ts";
import { mount } from "../core/view.ts";
import type { About, HeadPlace, KindTrace, Trace } from "../core/trace.ts";
import type { Ordered } from "../engine/messages.ts";
import { Explorer, type ExplorerData } from "../explorer.ts";
import { explorerData } from "../explorer_from_trace.ts";
import type { Broken } from "../player/break_it.ts";
import type { PlayerData } from "../player/plan.ts";
import { playerData, watchedHead } from "../player/from_trace.ts";
import { BROKEN, Player } from "../player/view.ts";
import { linkData, wordLinks } from "../word_links/from_trace.ts";
import type { LinkData } from "../word_links/plan.ts";
import { WordLinks } from "../word_links/view.ts";
import { readLink, writeLink } from "./address.ts";
import { brokenOf, PLACES, SEED } from "./breaking.ts";
import { type LiveData, storedAt } from "./data.ts";
import { Editing } from "./editing.ts";
import { type Listener, LiveSentence } from "./sentence.ts";

const REST = 300; // ms after which what is shown is written into the address

const at = (id: string) => document.getElementById(id) as HTMLElement;
const same = (a: HeadPlace, b: HeadPlace) => String(a) === String(b);

/** Choose the head of the cross-attention that opens first. */
export function firstHead(trace: Trace, about: About): HeadPlace {
  const cross = trace.kinds.find(({ kind }) => kind === "cross") as KindTrace;
  return ["cross", ...watchedHead(trace, cross, wordLinks(trace, about))];
}

/** Let the browser hear what is typed, and paint. */
const breath = () => new Promise<void>((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(0);
});

export class LivePage implements Listener {
  sentence: LiveSentence;
  open: HeadPlace | null = null; // null for the head that opens first
  explorer?: Explorer;
  drawing = 0; // which drawing it is
  clicked = 0; // number of the last click on a small map that removes its head
  removes = false; // whether a click on a small map removes its head
  rest = 0; // a timer
  broken: Broken | null = null; // the order so far
  without: Trace[] = []; // what the model writes without its heads
  isOrdering = false;
  count = make("span", { role: "status" });
  head = button("", () => this.open && this.toggle(this.open));
  layer = button("", () => this.removeLayer());
  restore = button("Give all heads back", () => this.remove([]));
  editing: Editing;

  constructor(data: LiveData) {
    this.sentence = new LiveSentence(data, this);
    this.editing = new Editing(at("editing"), {
      rows: () => this.sentence.edits.rows,
      change: (rows) => this.sentence.edit({ rows }),
      redraw: () => this.sentence.shown && this.drawHeads(this.sentence.shown),
    });
    const { input, label } = choice({ type: "checkbox" }, "Click a small map to remove its head");
    input.addEventListener("change", () => {
      this.removes = input.checked;
      if (this.sentence.shown) this.drawHeads(this.sentence.shown);
    });
    at("removal").append(label, this.head, this.layer, this.restore, this.count);
  }

  async begin() {
    const { sentence, sentence: { data } } = this;
    const first = await storedAt(0);
    const link = readLink(window.location.search, first.kinds);
    const from = data.directions.findIndex(({ about }) => about.languages[0].code === link.from);
    sentence.direction = from >= 0 ? from : data.stored[0].direction;
    sentence.describe();
    if (link.text) sentence.field.value = link.text;
    else if (sentence.direction !== data.stored[0].direction) {
      sentence.field.value = sentence.about.examples[0]?.text ?? "";
    }
    sentence.note = link.problem;
    this.open = link.head;
    sentence.edits.removed = link.removed;
    await sentence.begin();
    if (!sentence.shown) this.draw(first); // until the model is there
    sentence.warn();
  }

  get about() {
    return this.sentence.about.about;
  }

  onTrace(trace: Trace) {
    this.broken = null;
    this.without = [];
    this.isOrdering = false;
    setValue(BROKEN, null);
    this.describe();
    this.editing.update();
    this.draw(trace);
    window.clearTimeout(this.rest);
    this.rest = window.setTimeout(() => this.keep(), REST);
  }

  redraw() {
    if (this.sentence.shown) this.draw(this.sentence.shown);
  }

  /** Draw all pictures, a short task for each. */
  async draw(trace: Trace) {
    const turn = ++this.drawing;
    const tasks = [
      ...trace.kinds.map(({ kind }) => () => void paletteOf(kind)), // computed once
      () => this.drawPlayer(trace),
      () => this.drawLinks(trace),
      () => this.drawHeads(trace, (act) => tasks.push(act)),
    ];
    for (const act of tasks) {
      await breath();
      if (turn !== this.drawing) return;
      act();
    }
    for (const name of ["maps", "drawn"]) {
      performance.clearMarks(name);
      performance.mark(name);
    }
  }

  drawPlayer(trace: Trace) {
    const { sentence: { isLive, isEdited } } = this;
    const data = playerData(trace, this.about, { breaks: isLive && !isEdited });
    mount<PlayerData, Player>(at("watch"), Player, { ...data, opens: true }, {
      onSelect: (selected) => this.onPlayer(selected),
    });
  }

  drawLinks(trace: Trace) {
    const data = linkData(trace, this.about);
    const place = at("links").firstElementChild as HTMLElement;
    place.hidden = !data.links.length; // of some models they cannot be read in the page
    if (data.links.length) mount<LinkData, WordLinks>(place, WordLinks, data);
  }

  /** @param later draws the open head in a task of its own */
  drawHeads(trace: Trace, later?: (act: () => void) => void) {
    this.open ??= firstHead(trace, this.about);
    const look = { paints: this.editing.isOn };
    const data: ExplorerData = { ...explorerData(trace, this.about, this.open, look), later };
    data.grid.switches = this.removes;
    data.grid.answered = this.clicked;
    this.explorer = mount(at("explorer"), Explorer, data, {
      onSelect: (selected) => this.onExplorer(selected),
    });
    this.describe();
  }

  /** A head of the player is to be broken out, or one of its ribbons was clicked. */
  onPlayer(selected: any) {
    if ("broken" in selected) this.order(selected.broken);
    else if ("query" in selected) this.show([selected.kind, selected.layer, selected.head]);
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
      this.open = selected;
      this.describe();
      this.keep();
    }
  }

  show(place: HeadPlace) {
    this.open = place;
    if (this.sentence.shown) this.drawHeads(this.sentence.shown);
    bringIntoView(".hl-explorer-open");
  }

  /** Compute which heads the sentence needs most; null where they all come back. */
  order(count: number | null) {
    if (count === null) return;
    if (this.broken) setValue(BROKEN, this.broken);
    else if (!this.isOrdering) {
      this.isOrdering = true;
      this.sentence.order(PLACES, SEED);
    }
  }

  onOrdered(answer: Ordered) {
    const { sentence: { shown } } = this;
    if (!shown) return;
    if (answer.trace) this.without.push(answer.trace);
    this.broken = brokenOf(answer, shown, this.without);
    setValue(BROKEN, this.broken);
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
    const { open, removed, head, layer, restore, count, sentence: { isLive } } = this;
    at("removal").hidden = at("editing").hidden = !isLive;
    if (open) {
      const name = `L${open[1] + 1} H${open[2] + 1}`;
      head.textContent = removed.some((place) => same(place, open)) ? `Give ${name} back`
        : `Remove ${name}`;
      layer.textContent = "Remove its whole layer";
    }
    restore.hidden = !removed.length;
    const text = removed.length === 0 ? "" : removed.length === 1 ? "1 head is removed."
      : `${removed.length} heads are removed.`;
    if (count.textContent !== text) count.textContent = text;
  }

  /** Keep in the address what is shown. */
  keep() {
    const { open, removed, sentence: { field, languages, shown } } = this;
    if (!shown || shown.source.text !== field.value) return;
    const before = new URLSearchParams(window.location.search).get("text");
    const isSame = before === null ? field.value === field.defaultValue : before === field.value;
    writeLink({ text: field.value, from: languages[0].code, head: open, removed }, isSame);
  }
}
