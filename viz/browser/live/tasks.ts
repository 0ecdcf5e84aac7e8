// What is to be drawn, in short tasks one after another: between two of them the browser hears what
// is typed, and paints.

import type { Later } from "../core/view.ts";

export class Tasks {
  queue: (() => void)[] = [];
  place = 0; // of the next one
  isCalled = false; // by a message on its way
  channel = new MessageChannel();

  constructor() {
    this.channel.port1.onmessage = () => {
      this.isCalled = false;
      this.place = 0;
      this.queue.shift()?.();
      this.place = this.queue.length;
      this.call();
    };
  }

  /** What a task puts here comes right after it; all else comes last. */
  later: Later = (act) => {
    this.queue.splice(this.place++, 0, act);
    this.call();
  };

  call() {
    if (!this.isCalled && this.queue.length) this.channel.port2.postMessage(this.isCalled = true);
  }

  clear() {
    this.queue = [];
    this.place = 0;
  }
}
