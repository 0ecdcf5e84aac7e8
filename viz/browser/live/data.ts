// What Python puts into a live page, as `live_data` of viz/site/live_page.py writes it, and how the
// page reads its blocks.

import { decode, textOf, unzip } from "../core/wire.ts";
import { type About, readTrace, type Trace } from "../core/trace.ts";

export interface Direction {
  base: string; // the folder of the model; "" where the page has no model
  bytes: number; // of the weights
  rounded: number; // and of those in 8 bits; 0 where there are none
  bleu: [exact: number, rounded: number] | null; // of the same sentences, where it is measured
  about: About;
  examples: { text: string; about: string }[];
}

export interface LiveData {
  engine: string; // the address of the engine's script
  worker: string; // and of the service worker
  carried: string[]; // blocks with the engine's script and the model's files; none on a site
  directions: Direction[];
  stored: { direction: number; text: string }[]; // their traces are the blocks `stored-0` …
  common: Record<string, string[]>; // words of a language that the other does not have
}

export const readMessage = async (id: string) => decode(await unzip(await textOf(id)));

const traces = new Map<number, Trace>();

export async function storedAt(number: number): Promise<Trace> {
  const trace = traces.get(number) ?? readTrace(await readMessage(`stored-${number}`));
  traces.set(number, trace);
  return trace;
}

/** Read the trace of a stored sentence; null where the page has none. */
export async function storedTrace({ stored }: LiveData, direction: number, text: string) {
  const number = stored.findIndex((sentence) =>
    sentence.direction === direction && sentence.text === text);
  return number < 0 ? null : storedAt(number);
}
