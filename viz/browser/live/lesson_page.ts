// A lesson whose pictures follow a sentence that is typed; its questions stay those of its own.

import { forHand } from "../core/text.ts";
import { mount } from "../core/view.ts";
import type { HeadPlace, Trace } from "../core/trace.ts";
import { Explorer, headOf } from "../explorer.ts";
import { explorerData } from "../explorer_from_trace.ts";
import { runLesson } from "../lesson.ts";
import { playerData } from "../player/from_trace.ts";
import type { PlayerData } from "../player/plan.ts";
import { Player } from "../player/view.ts";
import { type LiveData, readMessage } from "./data.ts";
import { firstHead } from "./page.ts";
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
    for (const task of this.root.querySelectorAll(".task")) {
      const texts = document.createTreeWalker(task, NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        texts.currentNode.nodeValue = forHand(texts.currentNode.nodeValue as string);
      }
    }
    await this.sentence.showStored();
    await runLesson(this.root, await readMessage("lesson-data"), (card) => this.draw(card));
    await this.sentence.begin();
  }

  draw(card: ParentNode) {
    const { trace, sentence: { about: { about } } } = this;
    if (!trace) return;
    for (const place of card.querySelectorAll<HTMLElement>("[data-picture]")) {
      const { picture, head } = place.dataset;
      if (picture === "watch") mount<PlayerData, Player>(place, Player, playerData(trace, about));
      else {
        const opened = head ? headOf(head) as HeadPlace : firstHead(trace, about);
        mount(place, Explorer, explorerData(trace, about, opened));
      }
    }
    performance.mark("drawn");
  }

  onTrace(trace: Trace) {
    this.trace = trace;
    const { field } = this.sentence;
    (document.getElementById("own") as HTMLElement).hidden =
      trace.source.text === field.defaultValue;
    this.redraw();
  }

  redraw() {
    const card = this.root.querySelector(".card:not([hidden])");
    if (card) this.draw(card);
  }
}
