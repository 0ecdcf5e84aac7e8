// The engine in its Worker, and a sentence for each browser or place in which it cannot run.

import { bytesOf, textOf } from "../core/wire.ts";
import type { Answer, Load, Request } from "../engine/messages.ts";
import type { LiveData } from "./data.ts";

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

  carried: string[];

  /** @param hear called with each answer */
  constructor(
    { engine, carried }: LiveData, base: string, int8: boolean, hear: (answer: Answer) => void,
  ) {
    this.script = engine;
    this.carried = carried;
    this.hear = hear;
    this.request = { type: "load", base: new URL(base, document.baseURI).href, int8 };
    this.load();
  }

  /** Load the model; after an error, what is missing of it. */
  async load() {
    const { carried, request, script } = this;
    if (carried.length && !request.files) {
      request.files = {};
      for (const name of carried) {
        const type = name === script ? "text/javascript" : "";
        request.files[name] = new Blob([bytesOf(await textOf(name))], { type });
      }
      this.script = URL.createObjectURL(request.files[script]);
    }
    if (!this.worker) {
      // a page that was saved as a file has no module from a Blob
      this.worker = new Worker(this.script, { type: carried.length ? "classic" : "module" });
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
