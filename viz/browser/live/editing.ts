// Painting into a map: a row of a head looks where one paints, and the model translates with that.

import { button, choice, make } from "../core/dom.ts";
import type { HeadPlace, Row } from "../core/trace.ts";

interface Host {
  rows: () => Row[];
  change: (rows: Row[]) => void;
  redraw: () => void; // the open map
}

/** Share a row evenly among keys, of which a causal row sees no later ones. */
export function evenRow(
  place: HeadPlace, row: number, keys: number[], count: number, causal: boolean,
): Row | null {
  const seen = keys.filter((key) => key < count && !(causal && key > row));
  if (!seen.length) return null;
  const weights = new Array<number>(count).fill(0);
  for (const key of seen) weights[key] = 1 / seen.length;
  return { place, row, weights };
}

const isOf = ({ place, row }: Row, other: Row) =>
  row === other.row && String(place) === String(other.place);

/** Replace the row of a head, or add it. */
export const withRow = (rows: Row[], added: Row) =>
  [...rows.filter((row) => !isOf(row, added)), added];

export class Editing {
  root: HTMLElement;
  host: Host;
  isOn = false;
  last: Row | null = null; // that was painted
  help = make("p", { hidden: "" }, "Click a square: its row looks at this word alone. Drag along a "
    + "row: it looks at these words evenly. The translation follows.");
  even = button("", () => this.makeEven());
  undo = button("Undo all edits", () => {
    this.last = null;
    this.host.change([]);
  });

  constructor(root: HTMLElement, host: Host) {
    this.root = root;
    this.host = host;
    const { input, label } = choice({ type: "checkbox" }, "Edit the attention of the open head");
    input.addEventListener("change", () => {
      this.isOn = input.checked;
      this.describe();
      host.redraw();
    });
    root.append(label, this.even, this.undo, this.help);
    this.describe();
  }

  update() {
    if (!this.host.rows().length) this.last = null;
    this.describe();
  }

  describe() {
    const { last, help, even, undo, host, isOn } = this;
    help.hidden = !isOn;
    undo.hidden = !host.rows().length;
    even.hidden = !isOn || !last;
    if (last) even.textContent = `Make row ${last.row + 1} even`;
  }

  paint(place: HeadPlace, squares: [row: number, key: number][], count: number, causal: boolean) {
    const row = evenRow(place, squares[0][0], squares.map(([, key]) => key), count, causal);
    if (row) this.change(row);
  }

  makeEven() {
    const { last } = this;
    if (!last) return;
    const every = last.weights.map((_, key) => key);
    const causal = last.place[0] === "decoder_self";
    const row = evenRow(last.place, last.row, every, every.length, causal);
    if (row) this.change(row);
  }

  change(row: Row) {
    this.last = row;
    this.host.change(withRow(this.host.rows(), row));
  }
}
