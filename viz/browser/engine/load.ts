// The model's folder, fetched part by part. A part that came is in its place in memory and in the
// browser's Cache, so that a connection that is cut, or a second visit, fetches the others alone.

import { Engine } from "./engine.ts";
import { EngineError, type Folder, type Part, type WeightPart } from "./folder.ts";
import { Kernel } from "./kernel.ts";
import type { Load } from "./messages.ts";
import { Model } from "./model.ts";
import { Tokenizer } from "./tokenizer.ts";
import { Weights } from "./weights.ts";

type Report = (loaded: number, total: number) => void; // in bytes

export class Loader {
  loaded = 0; // bytes of the parts that are there
  total = 0;
  private base: string;
  private int8: boolean;
  private folder: Folder | null = null;
  private weights: Weights | null = null;
  private isThere = new Set<string>();
  private tokenizers: Uint8Array[] = [];

  private files: Load["files"];

  /** @param base address of the folder @param int8 whether to take the smaller weights
   * @param files of the folder, where no server has it */
  constructor(base: string, int8 = false, files?: Load["files"]) {
    this.base = base.replace(/\/$/, "");
    this.int8 = int8;
    this.files = files;
  }

  /** Fetch what is not there yet; once more after an error, it goes on.
   * @throws {EngineError} with one sentence */
  async load(report: Report, plain = false): Promise<Engine> {
    this.folder ??= await this.description();
    const { name, config, tokenizers, int8 } = this.folder;
    const stored = this.int8 && int8 ? int8 : this.folder;
    this.weights ??= new Weights(await Kernel.make(plain), stored.header);
    const parts: Part[] = [...stored.parts, ...tokenizers];
    this.total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
    const cache = await this.cache(name);
    for (const part of parts) {
      if (this.isThere.has(part.name)) continue;
      const content = await this.content(part, cache, report);
      if (tokenizers.includes(part)) this.tokenizers.push(content);
      else this.weights.put(part as WeightPart, content);
      this.isThere.add(part.name);
      this.loaded += part.bytes;
      report(this.loaded, this.total);
    }
    this.weights.finish();
    const files = this.tokenizers.map((file) => new Tokenizer(file));
    return new Engine(new Model(this.weights, config), files);
  }

  private async description(): Promise<Folder> {
    const address = `${this.base}/model.json`;
    const answer = await this.answer("model.json").catch(() => null);
    if (!answer?.ok) {
      throw new EngineError(`The model's file ${address} cannot be fetched: check the connection, `
        + "or serve the folder of this page.");
    }
    return answer.json().catch(() => {
      throw new EngineError(`The model's file ${address} is damaged: build the page anew.`);
    });
  }

  /** Open the cache of this model, and leave out those of earlier ones at its address. */
  private async cache(name: string): Promise<Cache | null> {
    if (this.files) return null;
    try {
      const address = `headlight ${this.base} `;
      for (const other of await caches.keys()) {
        if (other.startsWith(address) && other !== address + name) await caches.delete(other);
      }
      return await caches.open(address + name);
    } catch {
      return null; // a browser or a page that keeps nothing
    }
  }

  /** Return what a part holds: of the cache, else of the network, where it may fail once. */
  private async content(part: Part, cache: Cache | null, report: Report): Promise<Uint8Array> {
    const address = `${this.base}/${part.name}`;
    const stored = await cache?.match(address).catch(() => undefined);
    if (stored) {
      try {
        return await unzip(stored);
      } catch {
        await cache?.delete(address); // damaged
      }
    }
    for (let tries = 1; ; tries++) {
      try {
        return await this.fetched(part, cache, report);
      } catch (error) {
        await cache?.delete(address);
        if (error instanceof EngineError) throw error;
        if (tries > 1) {
          throw new EngineError(`The model came as far as ${megabytes(this.loaded)} of `
            + `${megabytes(this.total)} MB, then its part ${part.name} could not be fetched whole: `
            + "load it again, and it goes on from there.");
        }
      }
    }
  }

  private async answer(name: string): Promise<Response> {
    if (this.files) return new Response(this.files[name]);
    return fetch(`${this.base}/${name}`, { cache: "no-store" }); // else the browser keeps it twice
  }

  /** Unpack a part while it comes, and keep it. */
  private async fetched(part: Part, cache: Cache | null, report: Report): Promise<Uint8Array> {
    const address = `${this.base}/${part.name}`;
    const answer = await this.answer(part.name);
    if (!answer.ok || !answer.body) {
      throw new EngineError(`The model's file ${address} cannot be fetched (${answer.status}): `
        + "build the page anew.");
    }
    let bytes = this.loaded;
    const counted = new TransformStream<Uint8Array, Uint8Array>({
      transform: (chunk, next) => {
        bytes += chunk.length;
        report(bytes, this.total);
        next.enqueue(chunk);
      },
    });
    const [read, kept] = answer.body.pipeThrough(counted).tee();
    const keeping = cache ? cache.put(address, new Response(kept)) : kept.cancel();
    const isOver = keeping.catch(() => {}); // no room is not an error
    return unzip(new Response(read)).finally(() => isOver);
  }
}

/** @throws {TypeError} if the bytes are damaged or cut: gzip has a checksum */
async function unzip({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const stream = body?.pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
