import { make, penOf } from "./dom.ts";
import type { Circle, Group, Mark, Path, Picture, Raster, Rect, Text } from "./scene.ts";

type Context = CanvasRenderingContext2D;

const ALIGN = { start: "left", middle: "center", end: "right" } as const;

/** Pixels of rasters and of layers, as long as these live. */
const drawn = new WeakMap<object, any>();

/** Pixels of the largest canvas: Safari on a phone leaves a larger one empty; elsewhere a map of
 * 512 words is as sharp as most browsers can hold. */
const MOST_PIXELS = { phone: 2 ** 24, elsewhere: 64e6 };
const MOST_SIDE = 16_384; // in any Safari; other browsers hold longer ones

/** Pixels of a canvas for each unit of what is drawn: as wanted, or fewer where it could not hold
 * them.
 * @param most pixels in all */
export const sharpnessOf = (
  width: number, height: number, wanted: number, most = MOST_PIXELS.elsewhere,
) =>
  Math.min(wanted, Math.sqrt(most / (width * height)), MOST_SIDE / Math.max(width, height));

let coarse: MediaQueryList | undefined; // one for all: a player draws sixty times a second

/** Give a canvas its size in CSS pixels and let one drawing unit be one of them on any screen. */
export function sized(canvas: HTMLCanvasElement, width: number, height: number) {
  coarse ??= matchMedia("(pointer: coarse)");
  const device = coarse.matches ? "phone" : "elsewhere";
  const wanted = (window.devicePixelRatio || 1) * (canvas.currentCSSZoom ?? 1);
  const ratio = sharpnessOf(width, height, wanted, MOST_PIXELS[device]);
  const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w) canvas.width = w;
  if (canvas.height !== h) canvas.height = h;
  const [wide, high] = [`${width}px`, `${height}px`];
  if (canvas.style.width !== wide) canvas.style.width = wide;
  if (canvas.style.height !== high) canvas.style.height = high;
  const context = penOf(canvas);
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Paint marks in order. What a browser makes for a path or a font is collected late, so that it is
 * made only where it is needed. */
export function paint(context: Context, marks: Mark[], font: string) {
  let before = ""; // font of the last text
  for (const mark of marks) {
    if (mark.type === "group") paintGroup(context, mark, font);
    else if (mark.type === "picture") paintPicture(context, mark);
    else if (mark.type === "text") {
      const own = `${mark.weight ?? 400} ${mark.size}px ${font}`;
      if (own !== before) context.font = before = own;
      paintText(context, mark);
    }
    else paintShape(context, mark);
  }
}

function paintShape(context: Context, mark: Rect | Path | Circle) {
  context.globalAlpha = "opacity" in mark ? mark.opacity ?? 1 : 1;
  const path = mark.type === "path" ? new Path2D(mark.d) : null;
  if (mark.fill) {
    context.fillStyle = mark.fill;
    if (mark.type === "rect") context.fillRect(mark.x, mark.y, mark.width, mark.height);
    else if (path) context.fill(path);
    else if (mark.type === "circle") {
      context.beginPath();
      context.arc(mark.x, mark.y, mark.radius, 0, 2 * Math.PI);
      context.fill();
    }
  }
  if (mark.type !== "circle" && mark.stroke) {
    context.strokeStyle = mark.stroke;
    context.lineWidth = mark.line ?? 1;
    context.setLineDash(mark.dash ?? []);
    if (path) context.stroke(path);
    else if (mark.type === "rect") context.strokeRect(mark.x, mark.y, mark.width, mark.height);
  }
  context.globalAlpha = 1;
}

function paintText(context: Context, mark: Text) {
  context.fillStyle = mark.fill;
  context.globalAlpha = mark.opacity ?? 1;
  context.textAlign = ALIGN[mark.anchor ?? "start"];
  context.textBaseline = mark.middle ? "middle" : "alphabetic";
  context.direction = "ltr";
  if (mark.angle) {
    context.save();
    context.translate(mark.x, mark.y);
    context.rotate(mark.angle);
    context.fillText(mark.text, 0, 0, mark.room);
    context.restore();
  } else context.fillText(mark.text, mark.x, mark.y, mark.room);
  context.globalAlpha = 1;
}

function paintPicture(context: Context, mark: Picture) {
  const { raster, part, x, y, width, height, smooth, exact, opacity } = mark;
  if (exact) {
    const { a, d, e, f } = context.getTransform();
    // whole pixels, so that nothing is blurred
    const [left, top] = [Math.round(a * x + e), Math.round(d * y + f)];
    const [wide, high] = [Math.round(a * width), Math.round(d * height)];
    // a canvas for each of a hundred small maps would cost more than all else of a drawing
    if (Math.abs(wide - raster.width) <= 1 && Math.abs(high - raster.height) <= 1) {
      context.putImageData(imageOf(raster), left, top);
      return;
    }
    context.save();
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.imageSmoothingEnabled = false;
    context.drawImage(canvasOf(raster), left, top, wide, high);
    context.restore();
    return;
  }
  const source = canvasOf(raster);
  context.imageSmoothingEnabled = Boolean(smooth);
  const [left, top, wide, high] = part ?? [0, 0, raster.width, raster.height];
  context.globalAlpha = opacity ?? 1;
  if (wide && high) context.drawImage(source, left, top, wide, high, x, y, width, height);
  context.globalAlpha = 1;
}

function paintGroup(context: Context, mark: Group, font: string) {
  context.save();
  context.translate(mark.x ?? 0, mark.y ?? 0);
  if (mark.clip) {
    context.beginPath();
    context.rect(...mark.clip);
    context.clip();
  }
  if (mark.layer) paintLayer(context, mark, mark.layer, font);
  else paint(context, mark.marks, font);
  context.restore();
}

function paintLayer(
  context: Context, mark: Group, [width, height]: [width: number, height: number], font: string,
) {
  const { width: wide, height: high } = context.canvas; // which lies within what can be held
  const most = Math.max(MOST_PIXELS.phone, wide * high);
  const ratio = sharpnessOf(width, height, context.getTransform().a, most);
  const { owner = mark } = mark;
  let layer = drawn.get(owner);
  if (layer?.mark !== mark || layer.ratio !== ratio) {
    const canvas = layer?.canvas ?? make("canvas");
    canvas.width = Math.ceil(width * ratio); // which clears it, too
    canvas.height = Math.ceil(height * ratio);
    const pen = penOf(canvas);
    pen.scale(ratio, ratio);
    paint(pen, mark.marks, font);
    layer = { mark, ratio, canvas };
    drawn.set(owner, layer);
  }
  context.drawImage(layer.canvas, 0, 0, layer.canvas.width / ratio, layer.canvas.height / ratio);
}

export function canvasOf(raster: Raster): HTMLCanvasElement {
  const { width, height, owner = raster } = raster;
  const before = drawn.get(owner);
  if (before?.raster === raster) return before.canvas;
  const canvas = before?.canvas ?? make("canvas");
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  penOf(canvas).putImageData(imageOf(raster), 0, 0);
  drawn.set(owner, { raster, canvas });
  return canvas;
}

function imageOf(raster: Raster): ImageData {
  return new ImageData(raster.pixels, raster.width, raster.height);
}
