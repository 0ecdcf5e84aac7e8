// Figure 1 with a sentence in it: boxes are buttons, the lines between them one SVG picture, what
// flows through a box a strip in it. Opening a box is the host's business; it hears its name.

import { make, mounted, readTheme, shape, size, watch } from "./shared.js";
import { pixels, unpackDrawing } from "./architecture_data.js";
import { paintArchitecture } from "./architecture_paint.js";
import { INSIDE, layerWords, plan, rounded, STRIP } from "./architecture_plan.js";
import { saveButtons } from "./save.js";

const DESCRIPTION = "The Transformer of Figure 1. The encoder stands on the left, the decoder on "
  + "the right; both are read from the foot up. Each box is a button that opens it; arrow keys "
  + "move from box to box.";
const STRIPS = "Strips: a row for each token, a column for each feature;";
const SCALES = "each strip on its own scale.";
const MAPS = "Maps: one for each head, from 0 to 1; rows look at columns.";
const DOT = 12; // of the legend in what is saved

const views = new WeakMap();

/**
 * @param {Element|ShadowRoot} element is filled; call again to show other data in the same place
 * @param {object} data what `unpackDrawing` gives
 * @param {{onSelect?: (name: string) => void, theme?: "light"|"dark"}} options
 * @returns {() => void} takes it away again
 */
export function render(element, data, options = {}) {
  const view = mounted(element, views, () => new Architecture());
  view.show(data, options);
  return () => {
    views.delete(element);
    view.remove();
  };
}

export default function streamlit({ data, parentElement, setTriggerValue }) {
  return render(parentElement, unpackDrawing(data), {
    onSelect: (name) => setTriggerValue("picked", name),
  });
}

class Architecture {
  constructor() {
    this.lines = shape("svg", { "aria-hidden": "true" });
    this.key = make("div", { class: "hl-arch-key" });
    this.room = make("div", { class: "hl-arch", role: "group", "aria-label": DESCRIPTION });
    this.live = make("div", { class: "hl-unseen", "aria-live": "polite" });
    const foot = make("div", { class: "hl-foot" }, saveButtons(() => this.sheet()));
    this.root = make("div", { class: "hl" }, this.room, this.key, foot, this.live);
    this.pen = make("canvas").getContext("2d");
    this.nodes = new Map(); // name → button
    this.room.addEventListener("click", (event) => this.pick(event.target.closest("button")));
    this.room.addEventListener("keydown", (event) => this.onKey(event));
    this.unwatch = watch(this.root, () => this.layOut());
  }

  remove() {
    this.unwatch();
    this.root.remove();
  }

  show(data, options) {
    this.data = data;
    this.options = options;
    this.layOut();
  }

  layOut() {
    const width = this.root.clientWidth;
    if (!this.data || !width) return;
    this.theme = readTheme(this.root, this.pen, this.options.theme);
    this.plan = plan(width, Math.max(...this.data.boxes.map(({ maps }) => maps)));
    this.build();
    this.draw();
    this.select(this.data.selected);
  }

  /** The buttons; those that stay are the same elements as before, so focus stays. */
  build() {
    const names = this.data.boxes.map(({ name }) => name);
    if (names.join() === [...this.nodes.keys()].join()) return;
    this.nodes = new Map(names.map((name) => [name, button(name)]));
    this.room.replaceChildren(this.lines, ...this.nodes.values());
  }

  draw() {
    const { boxes, height, width, narrow } = this.plan;
    this.room.style.height = `${height}px`;
    this.room.classList.toggle("hl-arch-narrow", narrow);
    this.drawLines(width, height);
    this.drawKey();
    for (const box of this.data.boxes) {
      const node = this.nodes.get(box.name);
      const { x, y, wide, high } = boxes[box.name];
      Object.assign(node.style,
        { left: `${x}px`, top: `${y}px`, width: `${wide}px`, height: `${high}px` });
      if (box.color) node.style.setProperty("--hl-kind", box.color);
      node.setAttribute("aria-label", box.says);
      node.titleText.textContent = box.title;
      node.shapeText.textContent = box.shape;
      this.drawStrip(node.strip, box, wide);
    }
  }

  /** What the colours say: over the encoder where there is room, else under the picture. */
  drawKey() {
    const { free, narrow } = this.plan;
    Object.assign(this.key.style, narrow ? { left: "", width: "" }
      : { left: `${free.x}px`, width: `${free.wide}px` });
    this.key.classList.toggle("hl-arch-key-over", !narrow);
    const dot = (color) => {
      const mark = make("span", { class: "hl-arch-dot" });
      mark.style.background = color;
      return mark;
    };
    const [below, above] = this.ends();
    this.key.replaceChildren(
      make("div", {}, `${STRIPS} `, dot(below), "below 0, ", dot(above), `above 0, ${SCALES}`),
      make("div", {}, MAPS),
    );
  }

  /** A colour of what is below 0 and one of what is above. */
  ends() {
    const colors = this.data.colors.difference[this.theme.name];
    return [28, 228].map((level) => `rgb(${colors.slice(3 * level, 3 * level + 3).join()})`);
  }

  /** What is saved. */
  sheet() {
    const { data, plan, theme } = this;
    const title = `Transformer, layer ${data.layer + 1} of ${data.layers}`;
    const dot = (color) => ({ width: DOT, draw: (context) => {
      context.fillStyle = color;
      context.fillRect(0, 0, DOT, DOT);
    } });
    const [below, above] = this.ends();
    return {
      name: title, title, theme, lines: [], width: plan.width, height: plan.height, note: "",
      legend: [STRIPS, dot(below), "below 0,", dot(above), `above 0, ${SCALES}`, MAPS],
      draw: (context) => paintArchitecture(context, { data, plan, theme }),
    };
  }

  drawLines(width, height) {
    const { frames, paths } = this.plan;
    for (const [name, value] of Object.entries({ width, height })) {
      this.lines.setAttribute(name, value);
    }
    this.lines.replaceChildren(
      ...frames.map(({ x, y, wide, high }) => shape("rect", {
        class: "hl-arch-frame", x, y, width: wide, height: high, rx: 10,
      })),
      ...paths.map(({ points, residual, memory }) => shape("path", {
        class: residual ? "hl-arch-residual" : memory ? "hl-arch-memory" : "hl-arch-line",
        d: rounded(points),
      })),
      ...paths.filter(({ head }) => head).map(({ points, memory }) => arrow(points, memory)),
      ...frames.map(({ stack, x, y, wide }) => {
        const text = shape("text", stack === "encoder"
          ? { x, y: y - 7 } : { x: x + wide, y: y - 7, "text-anchor": "end" });
        text.textContent = layerWords(this.data, this.plan.narrow);
        return text;
      }),
    );
  }

  /** The maps of the heads side by side, or one strip over the whole width. */
  drawStrip(canvas, box, wide) {
    canvas.hidden = !box.maps;
    if (!box.maps) return;
    const colors = this.data.colors[box.kind ?? "difference"][this.theme.name];
    const { side, apart } = this.plan.map;
    const width = wide - 2 * INSIDE - 2;
    const [each, height] = box.kind ? [side, side] : [width, STRIP];
    const context = size(canvas, width, height);
    context.imageSmoothingEnabled = box.columns > each * (window.devicePixelRatio || 1);
    for (let map = 0; map < box.maps; map++) {
      context.drawImage(pixels(box, map, colors), map * (each + apart), 0, each, height);
    }
  }

  select(name) {
    for (const [one, node] of this.nodes) {
      node.setAttribute("aria-pressed", String(one === name));
      const focused = this.room.getRootNode().activeElement;
      node.tabIndex = (this.room.contains(focused) ? focused === node : one === name) ? 0 : -1;
    }
    this.data.selected = name;
    this.root.__headlight = { ...this.data, theme: this.theme.name, plan: this.plan };
  }

  pick(node) {
    if (!node) return;
    this.select(node.name); // at once: the answer from Python would be a moment late
    const { says } = this.data.boxes.find(({ name }) => name === node.name);
    this.live.textContent = `Open: ${says}`;
    this.options.onSelect?.(node.name);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in ARROWS)) return;
    const next = nearest(this.plan.boxes, event.target.name, ARROWS[event.key]);
    event.preventDefault();
    if (!next) return;
    for (const [name, node] of this.nodes) node.tabIndex = name === next ? 0 : -1;
    this.nodes.get(next).focus();
  }
}

const ARROWS = {
  ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0],
};

/** The next box in a direction, straight on before askew. */
function nearest(boxes, name, [right, down]) {
  const middle = ({ x, y, wide, high }) => [x + wide / 2, y + high / 2];
  const [x, y] = middle(boxes[name]);
  let [best, least] = [null, Infinity];
  for (const [other, box] of Object.entries(boxes)) {
    const [dx, dy] = [middle(box)[0] - x, middle(box)[1] - y];
    const ahead = dx * right + dy * down;
    const far = ahead + 2 * Math.abs(dx * down + dy * right);
    if (ahead > 1 && far < least) [best, least] = [other, far];
  }
  return best;
}

function button(name) {
  const [title, drawn] = [make("span"), make("span")];
  const strip = make("canvas", { "aria-hidden": "true" });
  const node = make("button", { type: "button", class: "hl-box" },
    make("span", { class: "hl-box-name" }, title, drawn), strip);
  return Object.assign(node, { name, strip, titleText: title, shapeText: drawn });
}

/** The head of an arrow at the end of its line. */
function arrow(points, memory) {
  const [[fromX, fromY], [x, y]] = points.slice(-2);
  const turn = (Math.atan2(y - fromY, x - fromX) * 180) / Math.PI;
  return shape("path", {
    class: memory ? "hl-arch-head hl-arch-memory-head" : "hl-arch-head",
    d: "M0 0L-6 -3.5L-6 3.5Z", transform: `translate(${x} ${y}) rotate(${turn})`,
  });
}
