// A picture of squares, rows down and keys across: the square under the pointer, and the one that a
// key of the keyboard leads to.

import { boxAt, MOVES } from "./dom.ts";
import { PictureView, type Size } from "./picture_view.ts";
import { within } from "./text.ts";

/** A square, or with no key a row's word. */
export interface Square { row: number; key: number | null }

export abstract class MatrixView<D, P extends Size> extends PictureView<D, Square, P> {
  /** Get where the squares begin, the size of one, and how many there are. */
  abstract squares(): {
    left: number; top: number; wide: number; high: number; rows: number; keys: number;
  };

  /** Find the square at a place; left of the squares, the row's word. */
  hit(x: number, y: number, _visible?: unknown): Square | null {
    const { left, top, wide, high, rows, keys } = this.squares();
    const [row, key] = [Math.floor((y - top) / high), Math.floor((x - left) / wide)];
    if (row < 0 || row >= rows || key >= keys) return null;
    return { row, key: key < 0 ? null : key };
  }

  start(): Square {
    return this.at ?? { row: 0, key: null };
  }

  /** From a row's word every key leads to the first square. */
  target(pressed: string, moves = MOVES): Square | null {
    const { rows, keys } = this.squares();
    const { row, key } = this.start();
    if (!Object.hasOwn(moves, pressed)) return null;
    if (key == null) return { row, key: 0 };
    const [right, down] = moves[pressed];
    return { row: within(row + down, 0, rows - 1), key: within(key + right, 0, keys - 1) };
  }

  boxOf({ row, key }: Square) {
    const { left, top, wide, high } = this.squares();
    return boxAt(left + (key ?? 0) * wide, top + row * high, wide, high);
  }
}
