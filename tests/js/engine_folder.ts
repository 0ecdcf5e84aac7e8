// The folder of a model as a site serves it, made from a checkpoint folder: the format's second
// writer beside Python's.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Engine } from "../../viz/browser/engine/engine.ts";
import type { Tensor, WeightPart } from "../../viz/browser/engine/folder.ts";
import { Kernel } from "../../viz/browser/engine/kernel.ts";
import { Model } from "../../viz/browser/engine/model.ts";
import { Tokenizer } from "../../viz/browser/engine/tokenizer.ts";
import { Weights } from "../../viz/browser/engine/weights.ts";

export interface Checkpoint { header: Record<string, Tensor>; data: Buffer; config: any }

/** @param folder with model.safetensors, config.json and tokenizer.model */
export function readCheckpoint(folder: string): Checkpoint {
  const file = readFileSync(join(folder, "model.safetensors"));
  const length = Number(file.readBigUInt64LE());
  return {
    header: JSON.parse(file.subarray(8, 8 + length).toString()),
    data: file.subarray(8 + length),
    config: JSON.parse(readFileSync(join(folder, "config.json"), "utf8")),
  };
}

/** List the planes of numbers of one width, the highest first. */
export function planes(data: Buffer, width: 1 | 2 | 4, start = 0) {
  return Array.from({ length: width }, (_, n) => width - 1 - n).map((plane) => ({
    start, width, plane, content: data.filter((_, n) => n % width === plane),
  }));
}

/** Make an engine without a page. */
export async function engineOf(folder: string, plain = false): Promise<Engine> {
  const { header, data, config } = readCheckpoint(folder);
  const kernel = await Kernel.make(plain);
  const weights = new Weights(kernel, header);
  const width = Object.values(header).some(({ dtype }) => dtype === "F32") ? 4 : 2;
  for (const { content, ...part } of planes(data, width)) {
    weights.put(part as WeightPart, content);
  }
  weights.finish();
  const names = config.source_vocab_size ? ["source.model", "tokenizer.model"] : ["tokenizer.model"];
  const files = names.map((name) => readFileSync(join(folder, name)));
  return new Engine(new Model(kernel, weights, config), files.map((file) => new Tokenizer(file)));
}
