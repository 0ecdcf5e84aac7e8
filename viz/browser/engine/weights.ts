// The weights of a checkpoint in the kernel's memory, by their names in PyTorch. Each is float32
// there, of which a bfloat16 is the upper half: its bytes are put in place as they come.

import { EngineError, type Tensor, type WeightPart } from "./folder.ts";
import type { Kernel } from "./kernel.ts";

const SIZES = { BF16: 2, F32: 4, I8: 1 };
const SCALE = ".scale"; // of the rows of a matrix in int8

const countOf = (shape: number[]) => shape.reduce((product, side) => product * side, 1);

export class Weights {
  kernel: Kernel;
  private start: number; // the first byte
  private tensors = new Map<string, { place: number; shape: number[]; dtype: Tensor["dtype"] }>();
  private vectors = new Map<string, Float32Array>();

  /** @param header of a safetensors file, as `folder.ts` says */
  constructor(kernel: Kernel, header: Record<string, Tensor>) {
    this.kernel = kernel;
    const tensors = Object.entries(header).filter(([name]) => name !== "__metadata__")
      .sort(([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0]);
    const total = tensors.reduce((sum, [, { shape }]) => sum + countOf(shape), 0);
    this.start = kernel.take(4 * total);
    let place = this.start / 4;
    for (const [name, { dtype, shape }] of tensors) {
      if (!(dtype in SIZES)) {
        throw new EngineError(`The weights ${name} are stored as ${dtype}, which this page cannot `
          + "read: build it anew from the checkpoint.");
      }
      this.tensors.set(name, { place, shape, dtype });
      place += countOf(shape);
    }
  }

  /** Put what a part holds in its place. */
  put({ start, width, plane }: WeightPart, content: Uint8Array) {
    const { bytes } = this.kernel;
    let at = this.start + 4 * start + 4 - width + plane;
    for (let n = 0; n < content.length; n++, at += 4) bytes[at] = content[n];
  }

  /** Make numbers of what came as int8, once all parts are there. */
  finish() {
    const { floats } = this.kernel;
    const whole = new Int32Array(floats.buffer); // with the byte on top
    for (const [name, { place, shape, dtype }] of this.tensors) {
      if (dtype !== "I8") continue;
      const scales = this.place(`${name}${SCALE}`, shape.slice(0, 1));
      const width = countOf(shape.slice(1));
      for (let n = 0; n < countOf(shape); n++) {
        floats[place + n] = (whole[place + n] >> 24) * floats[scales + Math.floor(n / width)];
      }
    }
  }

  has(name: string): boolean {
    return this.tensors.has(name);
  }

  /** @returns the first number of a tensor in the kernel's memory */
  place(name: string, shape: number[]): number {
    const tensor = this.tensors.get(name);
    if (tensor?.shape.length !== shape.length
      || shape.some((side, n) => side !== tensor.shape[n])) {
      throw new EngineError(`The model's files have no weights ${name} of shape [${shape}]: build `
        + "the page anew from the checkpoint.");
    }
    return tensor.place;
  }

  /** @returns a copy of a bias or of what a norm has, which no growth of the memory moves */
  vector(name: string, length: number): Float32Array {
    let vector = this.vectors.get(name);
    if (!vector) {
      const place = this.place(name, [length]);
      vector = this.kernel.floats.slice(place, place + length);
      this.vectors.set(name, vector);
    }
    return vector;
  }
}
