// The weights of a checkpoint in the kernel's memory, by their names in PyTorch. A matrix of
// bfloat16 stays as it is where the kernel can read it. All else is float32, of which a bfloat16
// is the upper half: its bytes are put in place as they come.

import { EngineError, type Tensor, type WeightPart } from "./folder.ts";
import { isInFours, type Kernel, type Matrix } from "./kernel.ts";

const SIZES = { BF16: 2, F32: 4, I8: 1 };
const SCALE = ".scale"; // of the rows of a matrix in int8

interface Stored extends Matrix {
  first: number; // of its numbers, as parts count them
  shape: number[];
  dtype: Tensor["dtype"];
}

const countOf = (shape: number[]) => shape.reduce((product, side) => product * side, 1);

export class Weights {
  kernel: Kernel;
  private tensors = new Map<string, Stored>();
  private vectors = new Map<string, Float32Array>();

  /** @param header of a safetensors file, as `folder.ts` says */
  constructor(kernel: Kernel, header: Record<string, Tensor>) {
    this.kernel = kernel;
    const tensors = Object.entries(header).filter(([name]) => name !== "__metadata__")
      .sort(([, a], [, b]) => a.data_offsets[0] - b.data_offsets[0]);
    let [first, place] = [0, kernel.top];
    for (const [name, { dtype, shape }] of tensors) {
      if (!(dtype in SIZES)) {
        throw new EngineError(`The weights ${name} are stored as ${dtype}, which this page cannot `
          + "read: build it anew from the checkpoint.");
      }
      const isHalf = dtype === "BF16" && kernel.wasm && shape.length === 2 && isInFours(shape[1]);
      const size = isHalf ? 2 : 4;
      this.tensors.set(name, { place, size, first, shape, dtype });
      first += countOf(shape);
      place += size * countOf(shape);
    }
    kernel.take(place - kernel.top);
  }

  /** Put what a part holds in its place. */
  put({ start, width, plane }: WeightPart, content: Uint8Array) {
    const { bytes } = this.kernel;
    for (const { place, size, first, shape } of this.tensors.values()) {
      const from = Math.max(start, first);
      const end = Math.min(start + content.length, first + countOf(shape));
      let at = place + (from - first + 1) * size - width + plane;
      for (let n = from; n < end; n++, at += size) bytes[at] = content[n - start];
    }
  }

  /** Make numbers of what came as int8, once all parts are there. */
  finish() {
    const { floats } = this.kernel;
    const whole = new Int32Array(floats.buffer); // with the byte on top
    for (const [name, { place, shape, dtype }] of this.tensors) {
      if (dtype !== "I8") continue;
      const scales = this.vector(`${name}${SCALE}`, shape[0]);
      const width = countOf(shape.slice(1));
      for (let n = 0; n < countOf(shape); n++) {
        floats[place / 4 + n] = (whole[place / 4 + n] >> 24) * scales[Math.floor(n / width)];
      }
    }
  }

  has(name: string): boolean {
    return this.tensors.has(name);
  }

  matrix(name: string, shape: number[]): Matrix {
    const tensor = this.tensors.get(name);
    if (tensor?.shape.length !== shape.length
      || shape.some((side, n) => side !== tensor.shape[n])) {
      throw new EngineError(`The model's files have no weights ${name} of shape [${shape}]: build `
        + "the page anew from the checkpoint.");
    }
    return tensor;
  }

  /** @returns a copy of a row of a matrix */
  row(name: string, [rows, width]: number[], n: number): Float32Array {
    const { kernel: { floats } } = this;
    const { place, size } = this.matrix(name, [rows, width]);
    const first = place / size + n * width;
    if (size === 4) return floats.slice(first, first + width);
    const halves = new Uint16Array(floats.buffer).subarray(first, first + width);
    return new Float32Array(Uint32Array.from(halves, (half) => half << 16).buffer);
  }

  /** @returns a copy of a bias or of what a norm has, which no growth of the memory moves */
  vector(name: string, length: number): Float32Array {
    let vector = this.vectors.get(name);
    if (!vector) {
      const { place } = this.matrix(name, [length]);
      vector = this.kernel.floats.slice(place / 4, place / 4 + length);
      this.vectors.set(name, vector);
    }
    return vector;
  }
}
