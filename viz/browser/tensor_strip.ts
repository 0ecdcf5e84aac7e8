// One tensor, large: a row for each token, a column for each feature, all of them in the frame's
// width. Pointer and keys are answered here, from the exact values.

import { type Palette, signedRaster } from "./core/color.ts";
import { paletteOf } from "./core/palette.ts";
import { EDGE, MatrixView, type Square } from "./core/picture_view.ts";
import { type Mark, picture, text } from "./core/scene.ts";
import { figure, isolate, quote, within } from "./core/text.ts";
import type { Measure, Theme } from "./core/theme.ts";

export interface StripData { // the message of `encode_strip` in viz/draw/architecture.py
  title: string;
  rows: string[];
  columns: number;
  columnNames: string[] | null; // of columns that are pieces of the vocabulary
  end: number; // the size from which on the colour stays
  values: Float32Array; // `[row, column]`
  palette: Palette;
}

type StripPlan = ReturnType<typeof planStrip>; // `wide` is the width of all values together

const ROW = { largest: 20, smallest: 12 };
const COLUMN = 28; // of a named column, at most
const WIDEST_WORDS = 0.4; // of the frame
const TALL = 360; // rows shrink until all fit in here
const LETTERS = 12;
const HELP = "Arrow keys move over the values.";

export function planStrip(
  { rows, columns, columnNames }: Pick<StripData, "rows" | "columns" | "columnNames">,
  width: number, measure: Measure,
) {
  const words = Math.max(...rows.map((word) => measure(word, LETTERS, 400)));
  const left = Math.ceil(Math.min(Math.ceil(words), width * WIDEST_WORDS)) + EDGE;
  const row = within(Math.floor(TALL / rows.length), ROW.smallest, ROW.largest);
  const wide = Math.min(width - left, columnNames ? columns * COLUMN : Infinity);
  return { left, row, wide, width: left + wide, height: rows.length * row };
}

export function stripMarks(
  data: StripData, { left, row, wide, height }: StripPlan, theme: Theme, mixed: boolean,
): Mark[] {
  const { rows, columns, values, end, palette } = data;
  const raster = signedRaster(values, columns, rows.length, palette[theme.name], end);
  return [
    ...rows.map((word, n) => text({
      text: isolate(word), x: left - EDGE, y: (n + 0.5) * row, room: left - EDGE,
      anchor: "end", middle: true, size: LETTERS, fill: theme.ink,
    })),
    picture({ raster, x: left, y: 0, width: wide, height, smooth: mixed }),
  ];
}

export class TensorStrip extends MatrixView<StripData, StripPlan> {
  static read(message: any): StripData {
    return { ...message, palette: paletteOf(null) };
  }

  picture: Mark[] = []; // made once for each plan

  constructor() {
    super();
    this.scroll.classList.add("hl-fine");
    this.unseen.remove(); // too many values for a table: the arrow keys read them out
  }

  update() {
    this.at = null;
  }

  arrange(width: number) {
    const { data, theme } = this;
    this.plan = planStrip(data, width, this.measure);
    this.setRoom();
    const mixed = data.columns > this.plan.wide * (window.devicePixelRatio || 1);
    this.picture = stripMarks(data, this.plan, theme, mixed);
    const note = noteOn(data, mixed);
    this.describe(data.title, `${note} ${HELP}`, note);
  }

  marks() {
    return this.picture;
  }

  squares() {
    const { data: { rows, columns }, plan: { left, wide, row } } = this;
    return { left, top: 0, wide: wide / columns, high: row, rows: rows.length, keys: columns };
  }

  hit(x: number, y: number) {
    return x < this.plan.left ? null : super.hit(x, y);
  }

  words({ row, key }: Square) {
    const { rows, columns, columnNames, values } = this.data;
    const column = key ?? 0;
    const name = columnNames ? quote(columnNames[column]) : `feature ${column + 1}`;
    return [`${quote(rows[row])} · ${name}`, figure(values[row * columns + column])];
  }
}

export function noteOn({ rows, columns, columnNames, end, values }: StripData, mixed: boolean) {
  const unit = columnNames ? "subwords" : "features";
  const more = mixed ? " Where features are narrower than a pixel, their colours are mixed." : "";
  const colours = values.some((value) => value < 0)
    ? `Olive is below 0, purple above; colours saturate at ±${figure(end)}.`
    : `Nothing is below 0; the larger, the more purple, up to ${figure(end)}.`;
  const hidden = values.includes(-Infinity) ? " Blank is −∞." : "";
  const size = `${rows.length} tokens × ${columns.toLocaleString("en")} ${unit}.`;
  return `${size} ${colours}${hidden}${more}`;
}
