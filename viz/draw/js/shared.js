// What both maps need: the data's way in, the page's theme, sharp canvases, and text that is only
// ever text. No framework: `render(element, data, options)` works in any page.

const COLORS = 256;

export const EDGE = 8; // between words and what they name in a large picture, CSS pixels
export const TALLEST = 800; // the frame of one; what is taller scrolls in it

/**
 * Read what packet.py wrote.
 * @param {Uint8Array} bytes
 * @returns {object} the header's fields, `palette` {light, dark} and `weights`, a typed array
 */
export function unpack(bytes) {
  const own = bytes.slice(); // starts at 0, so that the numbers below stand aligned
  const length = new DataView(own.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(own.subarray(4, 4 + length)));
  const at = 4 + length;
  const palette = {
    light: own.slice(at, at + 3 * COLORS),
    dark: own.slice(at + 3 * COLORS, at + 6 * COLORS),
  };
  const rest = own.slice(at + 6 * COLORS);
  const weights = header.dtype === "uint8" ? rest : new Float32Array(rest.buffer);
  return { ...header, palette, weights };
}

/** An element with attributes and children. Strings become text nodes: nothing is parsed as HTML. */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

const SVG = "http://www.w3.org/2000/svg"; // a name, not an address: nothing is fetched

/** An SVG element. Texts are set as text and attributes as attributes: a serializer escapes them. */
export function shape(tag, attributes = {}, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

/**
 * The view that lives in `element`, made on the first call. A host that runs its script again calls
 * `render` again: the same view then draws the new data in place, and keeps focus, scroll and pin.
 */
export function mounted(element, views, create) {
  let view = views.get(element);
  if (!view) {
    view = create();
    views.set(element, view);
    element.append(view.root);
  }
  return view;
}

/** Draw again when the width changes, or when a font arrives and the words have another length. */
export function watch(root, redraw) {
  let width = 0;
  const observer = new ResizeObserver(() => {
    if (root.clientWidth === width) return; // the height is of our own making
    width = root.clientWidth;
    redraw();
  });
  observer.observe(root);
  document.fonts?.addEventListener("loadingdone", redraw);
  return () => {
    observer.disconnect();
    document.fonts?.removeEventListener("loadingdone", redraw);
  };
}

/** Colours and font of the page; maps.css says which of its variables they come from. */
export function readTheme(root, context, forced) {
  const style = getComputedStyle(root);
  const color = (name) => {
    context.fillStyle = style.getPropertyValue(name).trim();
    return context.fillStyle; // the canvas writes any opaque CSS colour as #rrggbb
  };
  const paper = color("--hl-paper");
  return {
    paper,
    ink: color("--hl-ink"),
    line: color("--hl-line"),
    font: style.fontFamily,
    name: forced ?? (luma(paper) < 128 ? "dark" : "light"),
  };
}

function luma(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b;
}

/** Give a canvas its size in CSS pixels and let one drawing unit be one of them on any screen. */
export function size(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** A token among other text: its own direction stays inside it, Hebrew turns nothing around it. */
export const isolate = (token) => `\u2068${token}\u2069`;

export const quote = (token) => `“${isolate(token)}”`;

/** To three or four decimals; a bare 0 only for what is exactly 0. */
export function number(weight) {
  if (weight === 0) return "0";
  if (weight > 0 && weight < 0.00005) return "< 0.0001";
  return weight.toFixed(weight < 0.1 ? 4 : 3);
}

/** Any value in four figures, with a real minus sign. */
export const figure = (value) => String(Number(value.toPrecision(4))).replace("-", "−");

/** A difference of two weights, with its sign. */
export function difference(amount) {
  if (amount === 0) return "0";
  if (Math.abs(amount) < 0.00005) return "≈ 0";
  return (amount < 0 ? "−" : "+") + number(Math.abs(amount));
}

export const within = (value, least, most) => Math.min(Math.max(value, least), most);

/** Decoder self-attention: what stands later is hidden (§3.2.3). A weight there would be shown. */
export const hidden = (data, query, key, weight) =>
  data.kind === "decoder_self" && key > query && weight === 0;

/** Put one colour of a table into the pixel at `at` of image data. */
export function paint(pixels, at, colors, level) {
  pixels[at] = colors[3 * level];
  pixels[at + 1] = colors[3 * level + 1];
  pixels[at + 2] = colors[3 * level + 2];
  pixels[at + 3] = 255;
}

/** Values below and above 0 as a small picture, a pixel each; from ±`end` on the colour stays. */
export function signedPicture(values, columns, rows, colors, end) {
  const picture = make("canvas", { width: columns, height: rows });
  const context = picture.getContext("2d");
  const image = context.createImageData(columns, rows);
  values.forEach((value, n) => {
    paint(image.data, 4 * n, colors, 128 + Math.round(127 * within(value / end, -1, 1)));
  });
  context.putImageData(image, 0, 0);
  return picture;
}

/**
 * A frame in which a picture scrolls, with notes over it. maps.css lets the picture fade on the
 * sides where there is more of it: not every system shows its scroll bars.
 */
export function framed(scroll, ...notes) {
  const frame = make("div", { class: "hl-frame" }, scroll, ...notes);
  const tell = () => {
    const { scrollWidth, clientWidth, scrollLeft, scrollHeight, clientHeight, scrollTop } = scroll;
    frame.classList.toggle("hl-more-right", scrollWidth - clientWidth - scrollLeft > 1);
    frame.classList.toggle("hl-more-below", scrollHeight - clientHeight - scrollTop > 1);
    frame.style.setProperty("--hl-bar-right", `${scroll.offsetWidth - clientWidth}px`);
    frame.style.setProperty("--hl-bar-below", `${scroll.offsetHeight - clientHeight}px`);
  };
  scroll.addEventListener("scroll", tell);
  const observer = new ResizeObserver(tell);
  observer.observe(scroll);
  observer.observe(scroll.firstElementChild);
  return frame;
}

/**
 * A note below and to the right of a square of `frame`, where it covers neither the square's row nor
 * the words above its column; on another side where the frame ends.
 */
export function placeTip(tip, frame, { left, top, right, bottom }) {
  tip.hidden = false;
  const [wide, high] = [tip.offsetWidth, tip.offsetHeight];
  const last = frame.clientWidth - wide;
  const x = right + 8 <= last || left - 8 < wide ? Math.min(right + 8, last) : left - 8 - wide;
  const y = bottom + 8 + high <= frame.clientHeight ? bottom + 8 : top - 8 - high;
  tip.style.left = `${Math.max(0, x)}px`;
  tip.style.top = `${y}px`;
}
