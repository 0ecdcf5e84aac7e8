// The pointer over the picture of a player: the word or the ribbon under it, and what a click does.

import { make, penOf, placeTip, pointIn } from "../core/dom.ts";
import { number, quote } from "../core/text.ts";
import type { Options } from "../core/view.ts";
import { linksShown, type Moment, partnersOf, type Ribbon, ribbonsOf, type Word } from "./marks.ts";
import { type KindData, type PlayerData, type PlayerPlan, rowBetween, strongest } from "./plan.ts";
import { ribbonHint, stepHint } from "./sentences.ts";

const REACH = 12; // CSS pixels, at least, in which a ribbon is hit

interface Target {
  word: Word | null;
  ribbon: Ribbon | null; // whose numbers a click opens, or a link
  step: number; // to which a click goes; -1 for none
}

/** The player that the pointer moves over. */
interface Host {
  data: PlayerData;
  kind: KindData;
  plan: PlayerPlan;
  moment: Moment;
  stage: HTMLElement;
  frame: HTMLElement;
  scroll: HTMLElement;
  live: HTMLElement;
  options: Options;
  go(step: number): void;
  draw(): void;
}

export class Pointer {
  tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
  tester = make("canvas"); // draws nothing: it tells whether a ribbon is under the pointer
  word: Word | null = null; // whose links are shown
  ribbon: Ribbon | null = null; // which is drawn stronger
  hint = ""; // what a click does here
  player: Host;

  constructor(player: Host) {
    this.player = player;
    const { stage } = player;
    stage.addEventListener("pointermove", (event) => this.move(this.target(event)));
    stage.addEventListener("pointerleave", () => this.move(null));
    stage.addEventListener("click", (event) => this.pick(this.target(event)));
  }

  /** Find what is at the pointer: a word before a ribbon, and of ribbons the one of most weight. */
  target(event: PointerEvent | MouseEvent): Target | null {
    const { player: { data, kind, stage, moment }, tester } = this;
    if (data.training.length || moment.removed.length) return null; // they are of the whole model
    const [x, y] = pointIn(event, stage);
    const word = this.wordAt(x, y);
    if (!word) {
      const pen = penOf(tester);
      const hits = ribbonsOf(moment).filter(({ d, line }) => {
        pen.lineWidth = Math.max(line, REACH);
        return pen.isPointInStroke(new Path2D(d), x, y);
      });
      const [ribbon] = hits.sort((a, b) => b.weight - a.weight);
      if (!ribbon) return null;
      return { word, ribbon, step: linksShown(moment) ? ribbon.query : -1 };
    }
    if (word.side === this.keys && !moment.all && word.index < kind.size[1]) {
      return this.numbersOf(word.index);
    }
    const queries = kind.kind === "encoder_self" ? "source" : "written";
    const step = word.side !== queries ? -1 : word.index - (queries === "written" ? 1 : 0);
    return { word, ribbon: null, step };
  }

  /** The line of words at which the rows of the open kind look. */
  get keys() {
    return this.player.kind.kind === "decoder_self" ? "written" as const : "source" as const;
  }

  /** Return the target of a word that the row of a step looks at. */
  numbersOf(key: number): Target {
    const { kind, moment } = this.player;
    const weight = rowBetween(kind, moment.head, moment.step, 1)[key];
    const ribbon = { query: moment.step, key, weight, d: "", line: 0, opacity: 0 };
    return { word: { side: this.keys, index: key }, ribbon, step: -1 };
  }

  /** Move to the next word that a step looks at, or open its numbers, by a key. */
  press(name: string): boolean {
    const { player: { data, kind, moment, live } } = this;
    if (data.training.length || moment.all) return false;
    const at = this.ribbon?.key ?? strongest(rowBetween(kind, moment.head, moment.step, 1));
    if (name === "ArrowUp" || name === "ArrowDown") {
      const by = !this.ribbon ? 0 : name === "ArrowUp" ? -1 : 1;
      const keys = moment.kind.kind === "decoder_self" ? moment.step + 1 : kind.size[1];
      this.move(this.numbersOf((at + by + keys) % keys)); // a later word is masked
      live.textContent = this.hint;
    } else if (name === "Enter" && this.ribbon) this.pick(this.numbersOf(at));
    else return false;
    return true;
  }

  wordAt(x: number, y: number): Word | null {
    const { plan } = this.player;
    for (const side of ["source", "written"] as const) {
      const index = plan[side].findIndex((place) => x >= place.x - 4
        && x < place.x + place.width + 4 && y >= place.y && y < place.y + plan.high);
      if (index >= 0) return { side, index };
    }
    return null;
  }

  move(target: Target | null) {
    const { player } = this;
    const { moment } = player;
    const before = JSON.stringify([this.word, this.ribbon?.d, this.hint]);
    [this.word, this.ribbon] = [target?.word ?? null, target?.ribbon ?? null];
    this.hint = !target ? "" : target.ribbon ? ribbonHint(moment, target.ribbon)
      : target.step >= 0 ? stepHint(moment, target.step) : "";
    player.stage.style.cursor = this.hint ? "pointer" : "";
    if (before !== JSON.stringify([this.word, this.ribbon?.d, this.hint])) player.draw();
    this.note();
  }

  note() {
    const { tip, word, ribbon, player: { data, frame, moment, plan, scroll } } = this;
    const values = !word ? [] : ribbon
      ? [[data[word.side][word.index], ribbon.weight] as [string, number]]
      : linksShown(moment) ? partnersOf(data, word) : [];
    tip.hidden = !word || !values.length;
    if (!word || !values.length) return;
    tip.replaceChildren(...values.map(([text, value]) =>
      make("span", {}, quote(text), make("strong", {}, number(value)), " ")));
    const { x, y, width } = plan[word.side][word.index];
    const left = x - scroll.scrollLeft;
    placeTip(tip, frame, { left, top: y, right: left + width, bottom: y + plan.high });
  }

  /** Go to the step of a word, or down into the numbers of a weight. */
  pick(target: Target | null) {
    const { player } = this;
    if (!target) return;
    if (target.step >= 0) player.go(target.step);
    else if (target.ribbon) {
      this.tip.hidden = true; // the table of numbers is here
      const { query, key } = target.ribbon;
      player.options.onSelect?.({ ...player.moment.head, query, key });
    }
  }
}
