// What is to be drawn, in short tasks one after another: between two of them the browser hears what
// is typed, and paints.

import type { Later } from "../core/view.ts";

const breath = () => new Promise<void>((resolve) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    resolve();
  };
  port2.postMessage(0);
});

export class Tasks {
  queue: (() => void)[] = [];
  place = 0; // of the next one
  isRunning = false;

  /** What a task puts here comes right after it; all else comes last. */
  later: Later = (act) => {
    this.queue.splice(this.place++, 0, act);
    if (!this.isRunning) void this.run();
  };

  clear() {
    this.queue = [];
    this.place = 0;
  }

  async run() {
    this.isRunning = true;
    try {
      while (this.queue.length) {
        await breath();
        this.place = 0;
        this.queue.shift()?.();
        this.place = this.queue.length;
      }
    } finally {
      this.isRunning = false;
    }
  }
}
