// A drawing context that writes SVG instead of pixels: what draws on a canvas draws a file with
// real words in it, and the two cannot disagree. It knows what our pictures use, and they cut
// nothing off when they are whole, so `clip` has nothing to do.

import { make, shape } from "./shared.js";

// a picture of more squares, or of smaller ones, stays a picture
const [MOST_RECTS, LEAST_SIDE] = [64 * 64, 2];

const PLAIN = {
  fillStyle: "#000000", strokeStyle: "#000000", lineWidth: 1, globalAlpha: 1,
  font: "400 14px sans-serif", textAlign: "left", textBaseline: "alphabetic",
};

export class SvgCanvas {
  constructor(width, height) {
    this.root = shape("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
    this.ruler = make("canvas").getContext("2d");
    this.stack = [];
    this.turn = 0; // radians, clockwise; only words are turned
    this.at = [0, 0];
    Object.assign(this, PLAIN);
  }

  /** The file. The serializer escapes every word. */
  text() {
    return new XMLSerializer().serializeToString(this.root);
  }

  save() {
    const state = Object.fromEntries(Object.keys(PLAIN).map((name) => [name, this[name]]));
    this.stack.push({ ...state, turn: this.turn, at: this.at });
  }

  restore() {
    Object.assign(this, this.stack.pop());
  }

  translate(x, y) {
    this.at = [this.at[0] + x, this.at[1] + y];
  }

  rotate(angle) {
    this.turn += angle;
  }

  rect() {}

  clip() {}

  measureText(text) {
    this.ruler.font = this.font;
    return this.ruler.measureText(text);
  }

  fillRect(x, y, width, height) {
    if (width <= 0 || height <= 0) return;
    this.add("rect", { ...this.point(x, y), width, height, ...this.filled() });
  }

  strokeRect(x, y, width, height) {
    this.add("rect", { ...this.point(x, y), width, height, fill: "none", ...this.stroked() });
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x, y) {
    this.path += `M${this.pair(x, y)}`;
  }

  lineTo(x, y) {
    this.path += `L${this.pair(x, y)}`;
  }

  quadraticCurveTo(a, b, x, y) {
    this.path += `Q${this.pair(a, b)} ${this.pair(x, y)}`;
  }

  bezierCurveTo(a, b, c, d, x, y) {
    this.path += `C${this.pair(a, b)} ${this.pair(c, d)} ${this.pair(x, y)}`;
  }

  fill() {
    this.add("path", { d: this.path, ...this.filled() });
  }

  stroke() {
    this.add("path", { d: this.path, fill: "none", ...this.stroked() });
  }

  /** Words that are wider than `most` are squeezed, as a canvas does it. */
  fillText(text, x, y, most) {
    const [, weight, size, family] = /^(\d+) ([\d.]+)px (.*)$/.exec(this.font);
    // not every program knows dominant-baseline: half the height of a letter does the same
    const down = this.textBaseline === "middle" ? 0.34 * size : 0;
    const place = this.turn
      ? { x, y: y + down, transform: `translate(${this.at}) rotate(${degrees(this.turn)})` }
      : this.point(x, y + down);
    const node = this.add("text", {
      ...place,
      "text-anchor": { left: "start", center: "middle", right: "end" }[this.textAlign],
      "font-family": family, "font-size": size, "font-weight": weight,
      ...this.filled(),
      ...(this.measureText(text).width > most
        ? { textLength: tidy(most), lengthAdjust: "spacingAndGlyphs" } : {}),
    });
    node.textContent = allowed(text);
  }

  /** All of a small canvas: its opaque pixels as squares, or the whole as one picture. */
  drawImage(canvas, left, top, wide, high, x, y, width, height) {
    if (wide * high > MOST_RECTS || Math.min(width / wide, height / high) < LEAST_SIDE) {
      const href = canvas.toDataURL();
      const size = { width, height, preserveAspectRatio: "none" };
      const style = "image-rendering: pixelated";
      this.add("image", { ...this.point(x, y), ...size, href, style });
      return;
    }
    const { data } = canvas.getContext("2d").getImageData(left, top, wide, high);
    const [w, h] = [width / wide, height / high];
    this.save();
    for (let n = 0; n < wide * high; n++) {
      if (!data[4 * n + 3]) continue;
      this.fillStyle = `rgb(${data.slice(4 * n, 4 * n + 3).join()})`;
      this.fillRect(x + (n % wide) * w, y + Math.floor(n / wide) * h, w, h);
    }
    this.restore();
  }

  add(tag, attributes) {
    return this.root.appendChild(shape(tag, attributes));
  }

  point(x, y) {
    return { x: tidy(this.at[0] + x), y: tidy(this.at[1] + y) };
  }

  pair(x, y) {
    return Object.values(this.point(x, y)).join();
  }

  filled() {
    return { fill: this.fillStyle, ...opaque("fill-opacity", this.globalAlpha) };
  }

  stroked() {
    const line = { stroke: this.strokeStyle, "stroke-width": tidy(this.lineWidth) };
    return { ...line, ...opaque("stroke-opacity", this.globalAlpha) };
  }
}

const tidy = (length) => Math.round(100 * length) / 100;

const degrees = (radians) => tidy((180 * radians) / Math.PI);

const opaque = (name, alpha) => (alpha < 1 ? { [name]: tidy(alpha) } : {});

/** A token can hold what no XML file may: control letters and halves of a letter. */
const allowed = (text) =>
  text.replace(/[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, "\uFFFD");
