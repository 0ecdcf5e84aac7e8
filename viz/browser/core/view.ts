// The base of every component: it is mounted in an element, shows data, lays them out for its
// width, and draws; again whenever data, width or font change.

import { make } from "./dom.ts";
import { captioned, drawingOf, saveMenu, type Sheet } from "./save.ts";
import { type Measure, measureIn, onWhite, readTheme, type Theme } from "./theme.ts";

/** Draws something in a task of its own. */
export type Later = (draw: () => void) => void;
export interface Options { onSelect?: (selected: any) => void; later?: Later }

const views = new WeakMap<Node, View<any>>();

/** All style sheets of the components; the bundler puts their text in its place. */
declare const HEADLIGHT_STYLE: string;

let style: CSSStyleSheet | undefined; // one for all components: the browser reads it once

/** Show data in an element. A host that runs its script again calls this again: the same view then
 * draws the new data in place, and keeps focus, scroll and what is pinned. */
export function mount<D, V extends View<D>>(
  element: Element | ShadowRoot, Component: new () => V, data: D, options: Options = {},
): V {
  const { adoptedStyleSheets } = element.getRootNode() as Document | ShadowRoot;
  if (!style) {
    style = new CSSStyleSheet();
    style.replaceSync(HEADLIGHT_STYLE); // all its rules are under `.hl`
  }
  if (!adoptedStyleSheets.includes(style)) adoptedStyleSheets.push(style);
  const before = views.get(element);
  let view = before as V;
  if (!(before instanceof Component)) {
    before?.remove();
    view = new Component();
    views.set(element, view);
    element.append(view.root);
  }
  if (view === before || !options.later) view.show(data, options);
  else {
    view.root.style.visibility = "hidden"; // until it is drawn: its parts move as they come
    options.later(() => view.data ?? view.show(data, options));
  }
  return view;
}

export class View<D> {
  root = make("div", { class: "hl", role: "group" });
  live = make("div", { class: "hl-unseen", "aria-live": "polite" }); // what is read out
  laidOut = 0; // a width; 0 draws once more, without which a page was left unfinished
  unwatch = watch(this);
  declare data: D & { caption?: string[] }; // with what it was made from, for a file that is saved
  texts = ""; // as JSON
  declare options: Options;
  declare theme: Theme;
  declare measure: Measure;

  remove() {
    this.unwatch();
    if (this.root.parentNode) views.delete(this.root.parentNode);
    this.root.remove();
  }

  static read(message: any): any {
    return message;
  }

  show(data: D, options: Options) {
    this.data = data as View<D>["data"];
    this.options = options;
    this.update();
    this.layOut();
  }

  /** Act at once, or in a page with many pictures in a task of its own. */
  later(act: () => void) {
    (this.options.later ?? ((now) => now()))(act);
  }

  layOut() {
    // among many pictures the width of before: to read it would lay out what the others wrote
    const width = (this.options?.later && this.laidOut) || this.root.clientWidth;
    if (!this.data || !width) return; // a tab that is not open has no width yet
    this.theme = readTheme(this.root);
    this.measure = measureIn(this.theme);
    this.arrange(width);
    if (this.options.later) this.laidOut = width;
    this.later(() => {
      this.root.style.visibility = "";
      this.draw(this.options.later);
    });
  }

  /** Remember the texts of the picture.
   * @returns whether they differ from those before, so that no place is the same */
  setTexts(texts: unknown): boolean {
    const before = this.texts;
    this.texts = JSON.stringify(texts);
    return this.texts !== before;
  }

  /** Put what `data` say into words and elements: once for each data. */
  update() {}

  /** Give everything its place, `this.plan` too. @param _width in CSS pixels */
  arrange(_width: number) {}

  /** Draw what `arrange` has laid out: at each change of the pointer too.
   * @param _later for parts that take long */
  draw(_later?: Later) {}

  saveButtons() {
    return saveMenu((white) => this.saved(white), () => this.data.caption ?? []);
  }

  /** Lay out a file: the picture, and its caption under it. */
  saved(white: boolean) {
    if (white) {
      this.theme = onWhite(this.theme);
      this.arrange(this.root.clientWidth);
    }
    const drawing = captioned(this.drawing(), this.data.caption ?? [], this.measure);
    if (white) this.layOut(); // the page's own theme again
    return drawing;
  }

  drawing() {
    return drawingOf(
      { theme: this.theme, title: "", width: 0, height: 0, marks: [], ...this.sheet() },
      this.measure);
  }

  sheet(): Partial<Sheet> {
    return {};
  }
}

/** Call when the width changes, when the page is zoomed or comes to another screen, so that
 * canvases need other pixels, or when a font arrives and the words have another length. */
function watch(view: View<any>): () => void {
  const redraw = () => view.layOut();
  let ratio = window.devicePixelRatio;
  const check = () => {
    // the height is of our own making
    const { root: { clientWidth }, laidOut } = view;
    if (clientWidth === laidOut && window.devicePixelRatio === ratio) return;
    view.laidOut = clientWidth;
    ratio = window.devicePixelRatio;
    redraw();
  };
  const observer = new ResizeObserver(check);
  observer.observe(view.root);
  window.addEventListener("resize", check);
  document.fonts?.addEventListener("loadingdone", redraw);
  return () => {
    observer.disconnect();
    window.removeEventListener("resize", check);
    document.fonts?.removeEventListener("loadingdone", redraw);
  };
}
