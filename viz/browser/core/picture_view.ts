// A view of one large picture in a frame, which scrolls where the picture is larger. A note stands
// beside the place that the pointer or the arrow keys are at.

import { paint, sized } from "./canvas.ts";
import {
  ARROWS, type Box, boxAt, framed, isShortcut, make, placeTip, pointIn, reveal,
} from "./dom.ts";
import { drawingOf } from "./save.ts";
import { group, type Mark, type Place } from "./scene.ts";
import { forHand, within } from "./text.ts";
import { View } from "./view.ts";
import type { Measure, Theme } from "./theme.ts";

export const EDGE = 8; // between words and what they name, CSS pixels
export const TALLEST = 800; // the frame; a taller picture scrolls in it
const AROUND = 330; // a page of the app above and below its picture, CSS pixels
const LEAST = 280;

/** Measure the height up to which a picture is seen whole when its page opens.
 * @param around height of the page above and below it */
export function heightInSight(around = AROUND, zoom = 1) {
  // the frame of a notebook, which has its page within it, is as high as that
  const { innerHeight } = window.frameElement?.hasAttribute("srcdoc") ? window.parent : window;
  return within(innerHeight / zoom - around, LEAST, TALLEST);
}

export interface Scene<D, P, At> {
  data: D;
  plan: P;
  theme: Theme;
  measure: Measure;
  at: At | null; // under the pointer or the cursor
}

export interface Size { width: number; height: number }

export abstract class PictureView<D, At extends object, P extends Size> extends View<D> {
  canvas = make("canvas", { "aria-hidden": "true" });
  room = make("div", {}, this.canvas); // as large as the picture; the canvas is the frame
  scroll = make("div", { class: "hl-scroll", tabindex: "0", role: "application" }, this.room);
  tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
  frame = framed(this.scroll, this.tip);
  note = make("span");
  foot = make("div", { class: "hl-foot" }, this.note, this.saveButtons());
  table = make("table");
  // a table is as wide as its words, whatever its style, so the box around it is small
  unseen = make("div", { class: "hl-unseen" }, this.table);
  declare plan: P;
  at: At | null = null; // under the pointer or the cursor
  picks = false; // whether a click and Enter act: the pointer's shape shows it

  constructor() {
    super();
    this.root.append(this.frame, this.foot, this.unseen, this.live);
    this.listen();
  }

  listen(scroll = this.scroll) {
    scroll.addEventListener("pointermove", (event) => this.point(this.under(event)));
    scroll.addEventListener("pointerleave", () => this.point(null));
    scroll.addEventListener("blur", () => this.point(null));
    scroll.addEventListener("scroll", () => this.draw());
    scroll.addEventListener("click", (event) => {
      const at = this.under(event);
      this.point(at);
      if (at) this.pick(at);
    });
    scroll.addEventListener("keydown", (event) => {
      if (!isShortcut(event) && this.press(event.key)) event.preventDefault();
    });
  }

  describe(title: string, help: string, note: string) {
    this.root.setAttribute("aria-label", title);
    this.scroll.setAttribute("aria-label", `${title}. ${help}`);
    this.note.textContent = forHand(note);
  }

  setRoom(height = this.plan.height) {
    this.room.style.width = `${this.plan.width}px`;
    this.room.style.height = `${height}px`;
  }

  /** Plan the picture for the frame, and again for the width beside its scroll bar. */
  fit(plan: (width: number) => P, width: number, tallest: number) {
    this.plan = plan(width);
    const high = Math.min(this.plan.height, tallest);
    this.scroll.style.height = `${high}px`;
    this.setRoom();
    if (this.plan.height > high) this.plan = plan(this.scroll.clientWidth);
    this.setRoom();
  }

  draw() {
    if (!this.plan) return;
    const visible = this.visible();
    const context = sized(this.canvas, visible.width, visible.height);
    const marks = this.marks(this.at, visible);
    paint(context, [group(marks, { x: -visible.x, y: -visible.y })], this.theme.font);
    this.showTip(visible);
    this.scroll.style.cursor = this.at && this.picks ? "pointer" : "";
  }

  visible(): Place {
    const { clientWidth, clientHeight, scrollLeft, scrollTop } = this.scroll;
    return {
      x: scrollLeft, y: scrollTop,
      width: Math.min(clientWidth, this.plan.width),
      height: Math.min(clientHeight, this.plan.height),
    };
  }

  under(event: { clientX: number; clientY: number }) {
    if (!this.plan) return null;
    const [x, y] = pointIn(event, this.canvas);
    const visible = this.visible();
    return this.hit(x + visible.x, y + visible.y, visible);
  }

  point(at: At | null) {
    if (JSON.stringify(at) === JSON.stringify(this.at)) return;
    this.at = at;
    this.draw();
  }

  showTip({ x, y }: Pick<Place, "x" | "y">) {
    const nodes = this.at && this.tipNodes(this.at);
    this.tip.hidden = !nodes;
    if (!this.at || !nodes) return;
    const { left, top, right, bottom } = this.boxOf(this.at);
    this.tip.replaceChildren(...nodes);
    placeTip(this.tip, this.frame,
      { left: left - x, top: top - y, right: right - x, bottom: bottom - y });
  }

  press(key: string): boolean {
    if ((key === "Enter" || key === " ") && this.at && this.picks) {
      this.pick(this.at);
      return true;
    }
    const to = this.target(key);
    if (!to) return false;
    reveal(this.scroll, this.roomOf(to));
    this.point(to);
    this.live.textContent = this.sentence(to);
    return true;
  }

  drawing() {
    const { theme, measure, note, plan: { width, height } } = this;
    return drawingOf({
      theme, width, height, marks: this.marks(null, { x: 0, y: 0, width, height }),
      title: this.root.getAttribute("aria-label") ?? "", note: note.textContent ?? "",
      ...this.sheet(),
    }, measure);
  }

  scene(at: At | null): Scene<View<D>["data"], P, At> {
    const { data, plan, theme, measure } = this;
    return { data, plan, theme, measure, at };
  }

  /** List the marks of the picture, or of its visible part. */
  abstract marks(at: At | null, visible: Place): Mark[];

  /** Find what can be pointed at. */
  abstract hit(x: number, y: number, visible: Place): At | null;

  /** Find the place that a key leads to. */
  target(_key: string): At | null | undefined {
    return null;
  }

  pick(_at: At) {}

  /** Describe the place: a name, and its value. */
  words(_at: At): string[] {
    return [];
  }

  sentence(at: At) {
    return this.words(at).join(" ");
  }

  /** Write the note; null for none. */
  tipNodes(at: At): (Node | string)[] | null {
    const [name, value] = this.words(at);
    return [name, make("strong", {}, value)];
  }

  /** Get the box in the picture that the note stands beside. */
  abstract boxOf(at: At): Box;

  /** Get the part of the picture to scroll to. */
  roomOf(at: At): Box {
    return this.boxOf(at);
  }
}

/** A square, or with no key a row's word. */
export interface Square { row: number; key: number | null }

/** A picture of squares, rows down and keys across. */
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
  target(pressed: string, moves = ARROWS): Square | null {
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
