// The work that takes time: rows times a matrix, and what heads look at. WebAssembly computes four
// numbers at once; where it is refused, JavaScript does the same. All numbers but matrices are
// float32 in one memory, and places are numbers of a float from its start.

import { EngineError } from "./folder.ts";
import { kernelModule } from "./kernel_module.ts";

const PAGE = 2 ** 16; // bytes by which WebAssembly grows
const ROWS = 4;

/** Places in bytes. */
type Multiply = (x: number, w: number, y: number, inputs: number, outputs: number) => void;
/** All heads of one row, each with its part of every row of a table. Places are numbers of a float.
 * @param slots first of the numbers of the table's rows @param stride of the table */
type Look = (of: number, table: number, to: number, slots: number, count: number, stride: number,
  width: number, heads: number) => void;
interface Exports {
  memory: WebAssembly.Memory; multiply: Multiply; multiplyHalves: Multiply; scores: Look; mix: Look;
}

/** Its first byte, and the bytes of a number: 2 of a bfloat16, which WebAssembly alone reads. */
export interface Matrix { place: number; size: number }

/** A vector of WebAssembly has four numbers. */
export const isInFours = (width: number) => width % 4 === 0;

export class Kernel {
  declare floats: Float32Array; // other views once more memory is taken
  declare ints: Int32Array;
  declare bytes: Uint8Array;
  top = 0; // bytes that are taken
  wasm: Exports | null = null;

  /** @param plain whether to do without WebAssembly */
  static async make(plain = false): Promise<Kernel> {
    const kernel = new Kernel();
    for (const isRelaxed of plain ? [] : [true, false]) {
      try {
        const { instance } = await WebAssembly.instantiate(kernelModule(isRelaxed));
        kernel.wasm = instance.exports as unknown as Exports;
        break;
      } catch { /* a browser or a policy without it */ }
    }
    kernel.see(kernel.wasm ? kernel.wasm.memory.buffer : new ArrayBuffer(PAGE));
    return kernel;
  }

  /** Take memory. @returns the first byte, a multiple of 16 */
  take(bytes: number): number {
    const place = this.top;
    this.top += (bytes + 15) & ~15;
    const missing = this.top - this.bytes.length;
    if (missing > 0) this.grow(Math.ceil(missing / PAGE));
    return place;
  }

  /** Take rows of floats, with room for what the last group of four writes beyond them.
   * @returns the first float */
  rows(count: number, width: number): number {
    return this.take(4 * (count + ROWS - 1) * width) / 4;
  }

  /** y = x Wᵀ for rows of x. @param w `[output, input]` */
  linear(x: number, rows: number, w: Matrix, inputs: number, outputs: number, y: number) {
    const { wasm, plainly } = this;
    const multiply = !wasm || !isInFours(inputs) ? plainly
      : w.size === 2 ? wasm.multiplyHalves : wasm.multiply;
    for (let row = 0; row < rows; row += ROWS) {
      multiply(4 * (x + row * inputs), w.place, 4 * (y + row * outputs), inputs, outputs);
    }
  }

  /** Score each row of the table by q · k, `[head, key]`. */
  scores: Look = (q, table, to, slots, count, stride, width, heads) => {
    const { floats, ints, wasm } = this;
    if (wasm && isInFours(width)) {
      wasm.scores(4 * q, 4 * table, 4 * to, 4 * slots, count, 4 * stride, 4 * width, heads);
      return;
    }
    for (let head = 0; head < heads; head++, q += width) {
      for (let key = 0; key < count; key++, to++) {
        const row = table + ints[slots + key] * stride + head * width;
        floats[to] = 0;
        for (let n = 0; n < width; n++) floats[to] += floats[q + n] * floats[row + n];
      }
    }
  };

  /** Add up the rows of the table by weights, `[head, key]`. */
  mix: Look = (weights, table, to, slots, count, stride, width, heads) => {
    const { floats, ints, wasm } = this;
    if (wasm && isInFours(width)) {
      wasm.mix(4 * weights, 4 * table, 4 * to, 4 * slots, count, 4 * stride, 4 * width, heads);
      return;
    }
    floats.fill(0, to, to + heads * width);
    for (let head = 0; head < heads; head++, to += width) {
      for (let key = 0; key < count; key++, weights++) {
        const row = table + ints[slots + key] * stride + head * width;
        for (let n = 0; n < width; n++) floats[to + n] += floats[weights] * floats[row + n];
      }
    }
  };

  private plainly: Multiply = (x, w, y, inputs, outputs) => {
    const { floats } = this;
    const first = x / 4;
    let [at, to] = [w / 4, y / 4];
    const [second, third, fourth] = [first + inputs, first + 2 * inputs, first + 3 * inputs];
    for (let n = 0; n < outputs; n++, at += inputs, to++) {
      let [a, b, c, d] = [0, 0, 0, 0];
      for (let k = 0; k < inputs; k++) {
        const weight = floats[at + k];
        a += weight * floats[first + k];
        b += weight * floats[second + k];
        c += weight * floats[third + k];
        d += weight * floats[fourth + k];
      }
      floats[to] = a;
      floats[to + outputs] = b;
      floats[to + 2 * outputs] = c;
      floats[to + 3 * outputs] = d;
    }
  };

  private see(buffer: ArrayBuffer) {
    this.floats = new Float32Array(buffer);
    this.ints = new Int32Array(buffer);
    this.bytes = new Uint8Array(buffer);
  }

  private grow(pages: number) {
    try {
      if (this.wasm) {
        this.wasm.memory.grow(pages);
        this.see(this.wasm.memory.buffer);
      } else {
        const before = this.bytes; // copied, so not for every little room
        this.see(new ArrayBuffer(Math.max(pages * PAGE + before.length, 1.25 * before.length)));
        this.bytes.set(before);
      }
    } catch {
      throw new EngineError("The browser has not enough memory for this: close other tabs, or take "
        + "a shorter sentence.");
    }
  }
}
