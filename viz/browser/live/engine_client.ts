// The engine in its Worker, and a sentence for each browser or place in which it cannot run.

import type { Answer, Load, Request } from "../engine/messages.ts";

const STAYS = "The stored sentences still play.";

/** Say why no model can run here; "" where it can. */
export function refusal(): string {
  if (window.location.protocol === "file:") {
    return "This page is open as a file, and a browser loads no model from files. Serve its folder "
      + `with “headlight site --serve” for your own sentences. ${STAYS}`;
  }
  if (document.documentElement.classList.contains("framed")) return STAYS; // one part of the page
  if (typeof Worker === "undefined" || typeof DecompressionStream === "undefined") {
    return `This browser cannot run the model: it has no Web Workers, or is too old. ${STAYS}`;
  }
  return "";
}

export class EngineClient {
  worker?: Worker;
  script: string;
  request: Load;
  hear: (answer: Answer) => void;

  /** @param hear called with each answer */
  constructor(script: string, base: string, int8: boolean, hear: (answer: Answer) => void) {
    this.script = script;
    this.hear = hear;
    this.request = { type: "load", base: new URL(base, window.location.href).href, int8 };
    this.load();
  }

  /** Load the model; after an error, what is missing of it. */
  load() {
    if (!this.worker) {
      this.worker = new Worker(this.script, { type: "module" });
      this.worker.onmessage = ({ data }) => this.hear(data);
      this.worker.onerror = (event) => {
        event.preventDefault();
        this.end();
        const message = `The model’s script cannot be run. ${STAYS}`;
        this.hear({ type: "failed", turn: null, message });
      };
    }
    this.ask(this.request);
  }

  ask(request: Request) {
    this.worker?.postMessage(request);
  }

  end() {
    if (this.worker) this.worker.onmessage = null; // what it has sent is late
    this.worker?.terminate();
    this.worker = undefined;
  }
}
