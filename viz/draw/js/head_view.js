// The head view: what looks stands on the left, what is looked at on the right, and a ribbon
// between two words is as wide and as strong as the weight. Several heads lie over each other.

import {
  framed, make, mounted, number, placeTip, quote, readTheme, size, TALLEST, unpack, watch, within,
} from "./shared.js";
import { saveButtons } from "./save.js";
import { drawView, ribbonPicture, ribbonsOf } from "./view_paint.js";
import { planView } from "./view_plan.js";
import { arrow, OTHER, pair, sentence, tableOf, weightOf } from "./view_words.js";

const HELP = "Up and down move over the words, left and right change sides, Enter picks a word, "
  + "Escape lets it go.";

const views = new WeakMap();

/**
 * @param {Element|ShadowRoot} element is filled; call again to show other data in the same place
 * @param {object} data what `unpack` gives of a view packet
 * @param {{onSelect?: (token: {side: "queries"|"keys", index: number}|null) => void,
 *   theme?: "light"|"dark"}} options
 * @returns {() => void} takes it away again
 */
export function render(element, data, options = {}) {
  const view = mounted(element, views, () => new HeadView());
  view.show(data, options);
  return () => {
    views.delete(element);
    view.remove();
  };
}

export default function streamlit({ data, parentElement }) {
  return render(parentElement, unpack(data));
}

class HeadView {
  constructor() {
    this.switches = make("fieldset", { class: "hl-switches", "aria-label": "Heads" });
    this.axes = make("div", { class: "hl-axes" });
    this.canvas = make("canvas", { "aria-hidden": "true" });
    this.room = make("div", {}, this.canvas); // as large as the whole view; the canvas is the frame
    this.scroll = make("div", {
      class: "hl-scroll hl-view", tabindex: "0", role: "application",
    }, this.room);
    this.tip = make("div", { class: "hl-tip", "aria-hidden": "true", hidden: "" });
    this.frame = framed(this.scroll, this.tip);
    this.note = make("span");
    this.live = make("div", { class: "hl-unseen", "aria-live": "polite" });
    this.table = make("table");
    const foot = make("div", { class: "hl-foot" }, this.note, saveButtons(() => this.sheet()));
    this.root = make("div", { class: "hl", role: "group" }, this.switches, this.axes, this.frame,
      foot, make("div", { class: "hl-unseen" }, this.table), this.live);
    this.off = new Set(); // names, so that a head stays off when another sentence comes
    this.at = null; // {side, index} under the pointer or the cursor
    this.picked = null;
    this.listen();
    this.unwatch = watch(this.root, () => this.layOut());
  }

  listen() {
    this.scroll.addEventListener("pointermove", (event) => this.point(this.hit(event)));
    this.scroll.addEventListener("pointerleave", () => this.point(null));
    this.scroll.addEventListener("blur", () => this.point(null));
    this.scroll.addEventListener("scroll", () => this.draw());
    this.scroll.addEventListener("keydown", (event) => this.onKey(event));
    this.scroll.addEventListener("click", (event) => {
      const at = this.hit(event);
      this.point(at);
      if (at) this.pick(at);
    });
  }

  remove() {
    this.unwatch();
    this.root.remove();
  }

  show(data, options) {
    const words = JSON.stringify([data.kind, data.queries, data.keys]);
    if (words !== this.words) this.at = this.picked = null; // another sentence, other words
    this.words = words;
    this.data = data;
    this.options = options;
    this.name = `Head view of ${data.heads.join(", ")}`;
    this.root.setAttribute("aria-label", this.name);
    this.scroll.setAttribute("aria-label", `${this.name}. ${HELP}`);
    this.axes.replaceChildren(...axes(data).map(([name, text]) =>
      make("div", {}, make("span", {}, name), make("span", {}, text))));
    this.note.textContent = data.note;
    this.showSwitches();
    this.table.replaceChildren(...tableOf(data));
    this.layOut();
  }

  /** One switch for each head; they are made anew only for other heads, so they keep the focus. */
  showSwitches() {
    const { heads } = this.data;
    if (this.inputs && heads.join("\n") === this.named) return;
    this.named = heads.join("\n");
    this.inputs = (heads.length > 1 ? heads : []).map((name) => {
      const input = make("input", { type: "checkbox" });
      input.checked = !this.off.has(name);
      input.addEventListener("change", () => {
        this.off[input.checked ? "delete" : "add"](name);
        this.layOut();
      });
      return input;
    });
    this.dot = make("span", { class: "hl-dot" }); // a head alone cannot be switched off
    this.switches.replaceChildren(...(heads.length > 1
      ? heads.map((name, head) => make("label", {}, this.inputs[head], make("span", {}, name)))
      : [make("span", {}, this.dot, heads[0])]));
  }

  layOut() {
    const width = this.root.clientWidth;
    if (!this.data || !width) return;
    const context = this.canvas.getContext("2d");
    this.theme = readTheme(this.root, context, this.options.theme);
    this.colors = this.data.colors[this.theme.name];
    this.inputs.forEach((input, head) => (input.style.accentColor = this.colors[head]));
    this.dot.style.background = this.colors[0];
    const { heads } = this.data;
    this.on = [...heads.keys()].filter((head) => heads.length === 1 || !this.off.has(heads[head]));
    context.font = `600 14px ${this.theme.font}`; // the bold of a picked word is the widest
    const measure = (text) => context.measureText(text).width;
    const made = (room) => planView(this.data, this.on.length, room, measure);
    this.plan = made(width);
    const high = Math.min(this.plan.height, TALLEST);
    this.scroll.style.height = `${high}px`;
    this.room.style.height = `${this.plan.height}px`;
    // the bar of a long list takes its room from the ribbons
    if (this.plan.height > high) this.plan = made(this.scroll.clientWidth);
    this.room.style.width = `${this.plan.width}px`;
    this.ribbons = ribbonsOf(this.data, this.on, null);
    this.all = null; // their picture, drawn when it is needed
    this.draw();
  }

  /** The token whose ribbons are drawn: one that is pointed at, but not beside a picked one. */
  get shown() {
    return this.picked && this.at?.side !== this.picked.side ? this.picked : this.at;
  }

  draw() {
    if (!this.plan) return;
    const width = Math.min(this.scroll.clientWidth, this.plan.width);
    const height = Math.min(this.scroll.clientHeight, this.plan.height);
    const context = size(this.canvas, width, height);
    const { scrollLeft: x, scrollTop: y } = this.scroll;
    const scene = this.scene({ x, y, height });
    if (!scene.shown) scene.all = this.all ??= ribbonPicture(scene, window.devicePixelRatio || 1);
    drawView(context, scene);
    this.showTip(x, y);
    const { plan, theme, at, picked, on } = this;
    const { ribbons } = scene; // what a test must know: what is drawn, and where words stand
    const drawn = { theme: theme.name, at, picked, on, ribbons, plan, x, y };
    this.root.__headlight = { ...this.data, ...drawn };
  }

  scene(frame) {
    const { data, plan, theme, colors, on, at, picked, shown } = this;
    const ribbons = shown ? ribbonsOf(data, on, shown) : this.ribbons;
    return { data, plan, theme, colors, on, at, picked, shown, ribbons, all: null, ...frame };
  }

  /** All of the view for a file: nothing is scrolled out of it and nothing is pointed at. */
  sheet() {
    const { data, plan, theme, colors, on } = this;
    const at = this.at;
    this.at = null;
    const scene = this.scene({ x: 0, y: 0, height: plan.height });
    this.at = at;
    const names = on.map((head) => data.heads[head]);
    const dot = (head) => ({ width: 10, gap: 5, draw: (context) => {
      context.fillStyle = colors[head];
      context.fillRect(0, 0, 10, 10);
    } });
    return {
      name: `${names.join(" ")} ${data.kind} view`, title: names.join(", "), note: data.note,
      theme, width: plan.width, height: plan.height,
      lines: axes(data).map((words) => words.join(" ")),
      legend: on.flatMap((head) => [dot(head), data.heads[head]]),
      draw: (context) => drawView(context, scene),
    };
  }

  hit(event) {
    const box = this.canvas.getBoundingClientRect();
    const x = event.clientX - box.left + this.scroll.scrollLeft;
    const index = Math.floor((event.clientY - box.top + this.scroll.scrollTop) / this.plan.row);
    const side = x < this.plan.left ? "queries" : x > this.plan.right ? "keys" : null;
    return side && this.data[side][index] != null ? { side, index } : null;
  }

  point(at) {
    if (at?.side === this.at?.side && at?.index === this.at?.index) return;
    this.at = at;
    this.draw();
  }

  pick({ side, index }) {
    const again = this.picked?.side === side && this.picked.index === index;
    this.picked = again ? null : { side, index };
    this.draw();
    this.options.onSelect?.(this.picked);
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { side, index } = this.at ?? this.picked ?? { side: "queries", index: 0 };
    const last = this.data[side].length - 1;
    const beside = { side: OTHER[side], index: Math.min(index, this.data[OTHER[side]].length - 1) };
    const to = {
      ArrowUp: { side, index: within(index - 1, 0, last) },
      ArrowDown: { side, index: within(this.at ? index + 1 : index, 0, last) },
      ArrowLeft: side === "keys" ? beside : { side, index },
      ArrowRight: side === "queries" ? beside : { side, index },
      Home: { side, index: 0 },
      End: { side, index: last },
    }[event.key];
    if (event.key === "Enter" || event.key === " ") {
      this.pick({ side, index });
      const done = this.picked ? "picked" : "let go";
      this.live.textContent = `${quote(this.data[side][index])} ${done}`;
    } else if (event.key === "Escape") {
      this.at = this.picked = null;
      this.draw();
      this.options.onSelect?.(null);
    } else if (to) {
      const { row } = this.plan;
      const { scroll } = this;
      scroll.scrollTop = within(
        scroll.scrollTop, (to.index + 1) * row - scroll.clientHeight, to.index * row,
      );
      this.point(to);
      this.live.textContent = sentence(this);
    } else return;
    event.preventDefault();
  }

  /** Beside the token that is pointed at: its weights with the picked one, what was read there. */
  showTip(x, y) {
    const { data, at, picked, on, plan } = this;
    const read = at?.side === "queries" && data.reads?.[at.index];
    const both = at && picked && picked.side !== at.side;
    this.tip.hidden = !both && !read;
    if (this.tip.hidden) return;
    this.tip.replaceChildren();
    if (both) {
      const [query, key] = pair(picked, at);
      this.tip.append(arrow(data, query, key), ...on.map((head) => {
        const dot = make("span", { class: "hl-dot" });
        dot.style.background = this.colors[head];
        const weight = make("strong", {}, number(weightOf(data, head, query, key)));
        return make("div", {}, dot, data.heads[head], weight);
      }));
    }
    if (read) this.tip.append(make("div", {}, `after reading ${quote(read)}`));
    const numbers = both ? plan.numbers * plan.column : 0; // these stay in sight
    const [left, right] = at.side === "queries"
      ? [0, plan.left + numbers] : [plan.right - numbers, plan.width];
    const top = at.index * plan.row - y;
    const box = { left: left - x, top, right: right - x, bottom: top + plan.row };
    placeTip(this.tip, this.frame, box);
  }
}

const axes = (data) => [["Left ←", data.rows], ["Right →", data.columns]];
