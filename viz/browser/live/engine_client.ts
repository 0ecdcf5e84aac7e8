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
  worker: Worker;
  request: Load;

  /** @param hear called with each answer */
  constructor(script: string, base: string, int8: boolean, hear: (answer: Answer) => void) {
    this.worker = new Worker(script, { type: "module" });
    this.worker.onmessage = ({ data }) => hear(data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      const message = `The model’s script cannot be run: load the page again. ${STAYS}`;
      hear({ type: "failed", turn: null, message });
    };
    this.request = { type: "load", base: new URL(base, window.location.href).href, int8 };
    this.load();
  }

  /** Load the model; after an error, what is missing of it. */
  load() {
    this.ask(this.request);
  }

  ask(request: Request) {
    this.worker.postMessage(request);
  }

  end() {
    this.worker.onmessage = this.worker.onerror = null;
    this.worker.terminate();
  }
}
