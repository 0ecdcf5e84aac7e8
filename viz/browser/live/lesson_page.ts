// A lesson whose pictures follow a sentence that is typed; its questions stay those of its own.

import { mount } from "../core/view.ts";
import type { Trace } from "../core/trace.ts";
import { Explorer, headOf } from "../explorer.ts";
import { runLesson } from "../lesson.ts";
import { Player } from "../player/view.ts";
import { type LiveData, message } from "./data.ts";
import { explorerOf, playerOf } from "./pictures.ts";
import { type Listener, LiveSentence } from "./sentence.ts";

export class LessonPage implements Listener {
  sentence: LiveSentence;
  root: HTMLElement;
  trace: Trace | null = null;

  constructor(root: HTMLElement, data: LiveData) {
    this.root = root;
    this.sentence = new LiveSentence(data, this);
  }

  async begin() {
    await this.sentence.showStored();
    await runLesson(this.root, await message("lesson-data"), (card) => this.draw(card));
    await this.sentence.begin();
  }

  draw(card: ParentNode) {
    const { trace, sentence: { about: { about } } } = this;
    if (!trace) return;
    for (const place of card.querySelectorAll<HTMLElement>("[data-picture]")) {
      const { picture, head } = place.dataset;
      if (picture === "watch") mount(place, Player, playerOf(trace, about));
      else mount(place, Explorer, explorerOf(trace, about, head ? headOf(head) : null));
    }
    performance.mark("drawn");
  }

  onTrace(trace: Trace) {
    this.trace = trace;
    const { field } = this.sentence;
    (document.getElementById("own") as HTMLElement).hidden =
      trace.source.text === field.defaultValue;
    const card = this.root.querySelector(".card:not([hidden])");
    if (card) this.draw(card);
  }

  onOrdered() {}
}
