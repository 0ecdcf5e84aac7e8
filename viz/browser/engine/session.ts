// What the Worker does with messages: it loads a model, then answers the request that came last. It
// leaves an older one as soon as a newer one comes. While the page draws a translation, the order
// of heads that this translation has interrupted goes on.

import { buffersOf } from "./trace.ts";
import type { Engine, Steps } from "./engine.ts";
import { EngineError } from "./folder.ts";
import { Loader } from "./load.ts";
import type { Answer, Load, Order, Request, Translate } from "./messages.ts";

type Post = (answer: Answer, transfer: Transferable[]) => void;

const FIRST: Translate = {
  type: "translate", turn: 0, text: "Hello.", removed: [], rows: [], prefix: [],
};

const isSame = (one: Order, other: Order) =>
  one.text === other.text && one.length === other.length && one.seed === other.seed;

export class Session {
  private post: Post;
  private plain: boolean;
  private engine: Engine | null = null;
  private loading: { key: string; loader: Loader; isRunning: boolean } | null = null;
  private wanted: Translate | Order | null = null; // the newest one, not begun
  private order: Order | null = null; // the newest one, until it ends or another sentence comes
  private isBusy = false;
  private channel = new MessageChannel();
  private wake = () => {};

  /** @param post sends an answer @param plain whether to do without WebAssembly */
  constructor(post: Post, plain = false) {
    this.post = post;
    this.plain = plain;
    this.channel.port1.onmessage = () => this.wake();
  }

  async receive(request: Request) {
    const { order, wanted } = this;
    if (request.type === "load") await this.load(request);
    else if (order && !wanted && request.type === "order" && isSame(order, request)) {
      order.turn = request.turn; // it runs
    } else {
      this.wanted = request;
      if (!this.isBusy) await this.answer();
    }
  }

  /** Let go of the channel, which holds a process of Node. */
  close() {
    this.channel.port1.close();
  }

  private async load({ base, int8, files }: Load) {
    const key = JSON.stringify([base, int8]);
    const before = this.loading?.key === key ? this.loading : null;
    if (before?.isRunning) return;
    const loader = before?.loader ?? new Loader(base, int8, files);
    const loading = { key, loader, isRunning: true };
    this.loading = loading;
    const isNewest = () => this.loading === loading;
    try {
      const engine = await loading.loader.load((loaded, total) => {
        if (isNewest()) this.post({ type: "progress", loaded, total }, []);
      }, this.plain);
      // so that the first sentence does not wait for the browser to compile
      const steps = engine.translate(FIRST);
      while (!steps.next().done);
      if (!isNewest()) return;
      this.engine = engine;
      this.loading = null;
      this.post({ type: "live", wasm: engine.model.kernel.wasm !== null }, []);
    } catch (error) {
      loading.isRunning = false;
      if (isNewest()) this.fail(error, null);
    }
  }

  private async answer() {
    this.isBusy = true;
    for (let request; (request = this.wanted ?? this.order);) {
      this.wanted = null;
      if (request.type === "order") this.order = request;
      else if (request.text !== this.order?.text) this.order = null;
      try {
        const isOver = await this.run(this.steps(request));
        if (isOver && request === this.order) this.order = null;
      } catch (error) {
        if (request === this.order) this.order = null;
        this.fail(error, request.turn);
      }
    }
    this.isBusy = false;
  }

  private steps(request: Translate | Order): Steps {
    if (!this.engine) throw new EngineError("The model is not loaded yet: wait for it.");
    return request.type === "order" ? this.engine.order(request) : this.engine.translate(request);
  }

  /** @returns whether it ended before another request came */
  private async run(steps: Steps): Promise<boolean> {
    for (const answer of steps) {
      if (answer) this.post(answer, answer.type === "translated" ? buffersOf(answer.trace) : []);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
        this.channel.port2.postMessage(0); // a timer would wait some milliseconds
      });
      if (this.wanted) return false;
    }
    return true;
  }

  private fail(error: unknown, turn: number | null) {
    if (!(error instanceof EngineError)) console.error(error);
    const message = error instanceof EngineError ? error.message
      : "The page made a mistake while it computed this: load it again, or take another sentence.";
    this.post({ type: "failed", turn, message }, []);
  }
}

