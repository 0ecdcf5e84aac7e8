// What of a line of words is in sight, where it is longer than its frame.

import { within } from "../core/text.ts";
import type { Moment } from "./marks.ts";
import type { Place } from "./plan.ts";

export class Scrolling {
  frame: HTMLElement;
  changed?: Place; // the first word that differs without some heads
  follows = false; // whether the frame follows the words of a step

  constructor(frame: HTMLElement) {
    this.frame = frame;
  }

  /** Keep the words of the step in sight. */
  follow({ plan, all, step, kind }: Moment, plays: boolean) {
    const { frame } = this;
    const changed = plan.lost[0] ?? plan.written[[...plan.added][0]];
    if (all && changed !== this.changed) { // what the removed heads change is brought into sight
      this.changed = changed;
      if (changed) frame.scrollLeft = changed.x - plan.room / 2;
    }
    if (plan.width <= plan.room || (all && !this.follows)) return;
    const places = kind.kind === "encoder_self" ? plan.source : plan.written.slice(1);
    // all words are read from the first one on, wherever a play has ended
    const { x, width } = places[all ? 0 : step];
    const wanted = within(x + width / 2 - plan.room / 2, 0, plan.width - plan.room);
    frame.scrollLeft += (wanted - frame.scrollLeft) * (plays ? 0.15 : 1);
    this.follows = !all;
  }
}
