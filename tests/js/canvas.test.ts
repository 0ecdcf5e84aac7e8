// What a browser collects late is made only where it is needed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { paint } from "../../viz/browser/core/canvas.ts";
import { renew } from "../../viz/browser/core/dom.ts";
import { circle, group, path, picture, rect, text } from "../../viz/browser/core/scene.ts";
import { measureIn } from "../../viz/browser/core/theme.ts";
import { theme } from "./samples.ts";

/** A pen that lists what it is told to do. */
function recorder() {
  const told: string[] = [];
  const pen: any = new Proxy({}, {
    get: (_, name) => (...given: unknown[]) => {
      told.push(`${String(name)} ${given.join(" ")}`.trim());
      return { width: 5 };
    },
    set: (_, name, value) => Boolean(told.push(`${String(name)} = ${value}`)),
  });
  return { pen, told, of: (name: string) => told.filter((line) => line.startsWith(name)) };
}

test("rectangles and circles need no path, and a font is set where it changes", (t) => {
  let paths = 0;
  (globalThis as any).Path2D = class { constructor() { paths++; } arc() {} };
  const { pen, of } = recorder();
  t.after(() => delete (globalThis as any).Path2D);
  const words = { text: "a", x: 1, y: 2, fill: "red" };
  paint(pen, [
    rect({ x: 1, y: 2, width: 3, height: 4, fill: "red", stroke: "blue" }),
    circle({ x: 1, y: 2, radius: 3, fill: "red" }),
    text({ ...words, size: 10 }), text({ ...words, size: 10 }), text({ ...words, size: 12 }),
    group([text({ ...words, size: 9 })]), text({ ...words, size: 12, weight: 600 }),
    path({ d: "M1,2L3,4", stroke: "red" }),
  ], "serif");
  assert.equal(paths, 1);
  assert.deepEqual([...of("fillRect"), ...of("strokeRect")],
    ["fillRect 1 2 3 4", "strokeRect 1 2 3 4"]);
  assert.deepEqual(of("arc"), [`arc 1 2 3 0 ${2 * Math.PI}`]);
  assert.equal(of("fillText").length, 5);
  assert.deepEqual(of("font"),
    [10, 12, 9].map((size) => `font = 400 ${size}px serif`).concat("font = 600 12px serif"));
});

test("the frames of a film are drawn by one canvas", (t) => {
  const { pen, of } = recorder();
  let canvases = 0;
  const { ImageData, document } = globalThis as any;
  t.after(() => Object.assign(globalThis, { ImageData, document }));
  Object.assign(globalThis, {
    ImageData: class {},
    document: { createElement: () => ({ getContext: () => pen, append: () => canvases++ }) },
  });
  const owner = {};
  const frame = (film?: object) => picture({
    x: 0, y: 0, width: 9, height: 9,
    raster: { width: 1, height: 1, pixels: new Uint8ClampedArray(4), owner: film },
  });
  const [first, second] = [frame(owner), frame(owner)];
  paint(pen, [first, first, second, first, frame(), frame()], "serif");
  assert.deepEqual([canvases, of("putImageData").length, of("drawImage").length], [3, 5, 6]);
});

test("layers of one owner are drawn by one canvas, each once", (t) => {
  const { pen, of } = recorder();
  let canvases = 0;
  const { document } = globalThis as any;
  t.after(() => Object.assign(globalThis, { document }));
  const canvasOf = () => ({ getContext: () => pen, append: () => canvases++ });
  (globalThis as any).document = { createElement: canvasOf };
  pen.canvas = { width: 9, height: 9 };
  const screen = { ...pen, canvas: { width: 9, height: 9 }, getTransform: () => ({ a: 1 }) };
  for (const name of ["save", "restore", "translate", "drawImage"]) screen[name] = pen[name];
  const layer = (owner?: object) =>
    group([rect({ x: 1, y: 2, width: 3, height: 4, fill: "red" })], { layer: [9, 9], owner });
  const owner = {};
  const [first, second] = [layer(owner), layer(owner)];
  paint(screen, [first, first, second, second, layer(), layer()], "serif");
  assert.deepEqual([canvases, of("fillRect").length, of("drawImage").length], [3, 4, 6]);
});

test("a text is measured once, and anew when a font arrives", (t) => {
  const { pen, of } = recorder();
  t.after(() => delete (globalThis as any).document);
  let arrive = () => {};
  (globalThis as any).document = {
    createElement: () => ({ getContext: () => pen, append: () => {} }),
    fonts: { addEventListener: (_: string, act: () => void) => (arrive = act) },
  };
  const widths = [1, 2].map(() => measureIn(theme)("word", 12, 400));
  assert.deepEqual(widths, [5, 5]);
  assert.equal(of("measureText").length, 1);
  measureIn(theme)("word", 12, 600);
  arrive();
  measureIn(theme)("word", 12, 400);
  assert.equal(of("measureText").length, 3);
});

test("rows of a table that are as before stay the same elements", () => {
  class Node {
    children: Node[] = [];
    up?: Node;
    declare words: string;
    constructor(words: string) { this.words = words; }
    isEqualNode(other: Node) { return this.words === other.words; }
    append(node: Node) {
      this.children.push(node);
      node.up = this;
    }
    replaceWith(node: Node) {
      this.up!.children[this.up!.children.indexOf(this)] = node;
      node.up = this.up;
    }
    remove() { this.up!.children.splice(this.up!.children.indexOf(this), 1); }
    get lastElementChild() { return this.children.at(-1); }
  }
  const body = new Node("");
  const fill = (all: string) => {
    renew(body as any, [...all].map((words) => new Node(words)) as any);
    assert.equal(body.children.map(({ words }) => words).join(""), all);
    return [...body.children];
  };
  const rows = fill("abcd");
  const others = fill("axc");
  assert.deepEqual(others.map((node, n) => node === rows[n]), [true, false, true]);
  assert.equal(fill("axcd")[2], others[2]);
});
