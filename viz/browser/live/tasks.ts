// What is to be drawn, in short tasks one after another: between two of them the browser hears what
// is typed, and paints.

import type { Later } from "../core/view.ts";

const SHORT = 8; // ms, after which a task leaves the rest to the next one

export class Tasks {
  queue: (() => void)[] = []; // a new one ends what is on its way
  place = 0; // of the next one
  isCalled = false; // by a message on its way
  channel = new MessageChannel();

  constructor() {
    this.channel.port1.onmessage = () => {
      const ends = performance.now() + SHORT;
      this.isCalled = false;
      try {
        do {
          this.place = 0;
          this.queue.shift()?.();
        } while (this.queue.length && performance.now() < ends);
      } finally { // a picture that fails keeps none of the others
        this.place = this.queue.length;
        this.call();
      }
    };
  }

  /** What an act puts here comes right after it; all else comes last. */
  later: Later = (act) => {
    this.queue.splice(this.place++, 0, act);
    this.call();
  };

  call() {
    if (!this.isCalled && this.queue.length) this.channel.port2.postMessage(this.isCalled = true);
  }
}
