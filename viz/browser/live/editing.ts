// Painting into a map: rows of a head look where one paints, and the model translates with that.

import { button, choice, make } from "../core/dom.ts";
import { axesOf, displayTokens, headName, SCREEN_NAMES } from "../core/labels.ts";
import { forHand, quote } from "../core/text.ts";
import { showChips } from "./chips.ts";
import type { HeadPlace, Row, Trace } from "../core/trace.ts";

interface Host {
  rows: () => Row[];
  change: (rows: Row[]) => void;
  redraw: () => void; // the open map
}

/** Share each row of the painted squares evenly among its own, of which a causal row sees no later
 * ones. */
export function evenRows(
  place: HeadPlace, squares: [row: number, key: number][], count: number, causal: boolean,
): Row[] {
  return [...new Set(squares.map(([row]) => row))].flatMap((row) => {
    const seen = squares.flatMap(([other, key]) =>
      (other === row && key < count && !(causal && key > row) ? [key] : []));
    const weights = new Array<number>(count).fill(0);
    for (const key of seen) weights[key] = 1 / seen.length;
    return seen.length ? [{ place, row, weights }] : [];
  });
}

const isOf = ({ place, row }: Row, other: Row) =>
  row === other.row && String(place) === String(other.place);

/** Replace the row of a head, or add it. */
export const withRow = (rows: Row[], added: Row) =>
  [...rows.filter((row) => !isOf(row, added)), added];

/** Name a painted row with what it looks at now: `cross-attention L5 H3: “im” looks at “lake”`. */
export function rowText({ place: [kind, layer, head], row, weights }: Row, trace: Trace) {
  const [queries, keys] = axesOf(trace, kind).map(displayTokens);
  const seen = keys.filter((_, key) => weights[key]);
  const words = seen.length === keys.length ? "all words"
    : seen.slice(0, 3).map(quote).join(", ") + (seen.length > 3 ? " …" : "");
  return `${SCREEN_NAMES[kind]} ${headName(layer, head)}: ${quote(queries[row] ?? "")} looks at `
    + words;
}

export class Editing {
  root: HTMLElement;
  host: Host;
  isOn = false;
  last: Row | null = null; // that was painted
  help = make("p", { hidden: "" }, forHand("Click a square: its row looks at this word alone. Drag "
    + "along a row: it looks at these words evenly. Drag down a column: each row looks at this "
    + "word alone. The translation follows."));
  even = button("", () => this.makeEven());
  list = make("span", { class: "done", role: "group", "aria-label": "Painted rows" });

  constructor(root: HTMLElement, host: Host) {
    this.root = root;
    this.host = host;
    const { input, label } = choice({ type: "checkbox" }, "Edit the attention of the open head");
    input.addEventListener("change", () => {
      this.isOn = input.checked;
      this.describe();
      host.redraw();
    });
    root.append(label, this.help, this.list);
    this.describe();
  }

  /** @param trace what is shown */
  update(trace: Trace) {
    const rows = this.host.rows();
    if (!rows.length) this.last = null;
    showChips(this.list, "Painted:", [...rows].reverse().map((row) => ({
      text: rowText(row, trace),
      undo: () => this.host.change(rows.filter((other) => other !== row)),
    })));
    if (this.last) {
      const { place: [kind], row } = this.last;
      const word = displayTokens(axesOf(trace, kind)[0])[row] ?? "";
      this.even.textContent = `Make the row of ${quote(word)} even`;
      this.list.prepend(this.even);
    }
    this.describe();
  }

  describe() {
    const { help, even, list, isOn, host } = this;
    help.hidden = even.hidden = !isOn;
    list.hidden = !isOn && !host.rows().length; // its room is there before a row is painted
  }

  paint(place: HeadPlace, squares: [row: number, key: number][], count: number, causal: boolean) {
    const rows = evenRows(place, squares, count, causal);
    if (!rows.length) return;
    this.last = rows[rows.length - 1];
    this.host.change(rows.reduce(withRow, this.host.rows()));
  }

  makeEven() {
    if (!this.last) return;
    const { place, row, weights } = this.last;
    const every = weights.map((_, key): [number, number] => [row, key]);
    this.paint(place, every, weights.length, place[0] === "decoder_self");
  }
}
