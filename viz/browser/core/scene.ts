// A picture is one list of marks, plain data: canvas.ts and svg.ts draw the same list.

export interface Place { x: number; y: number; width: number; height: number }

interface Paint {
  fill?: string; // nothing is filled without one
  stroke?: string; // nor stroked
  line?: number; // width of the stroke, 1 by default
  dash?: number[]; // lengths of the strokes and gaps of a dashed path
  opacity?: number;
}

export type Rect = Place & Paint & { type: "rect" };
export type Path = Paint & { type: "path"; d: string }; // with `d` as SVG writes it
export interface Circle { type: "circle"; x: number; y: number; radius: number; fill: string }

export interface Text {
  type: "text";
  text: string;
  x: number;
  y: number;
  size: number; // of the letters
  fill: string;
  weight?: 400 | 600;
  anchor?: "start" | "middle" | "end"; // which part of the text stands at x
  middle?: boolean; // y is the middle of the letters, not their foot
  angle?: number; // radians, clockwise, around x and y
  room?: number; // a longer text is squeezed into this width, never cut
  opacity?: number;
}

/** Red, green, blue and opacity of each pixel. */
export interface Raster {
  width: number;
  height: number;
  pixels: Uint8ClampedArray<ArrayBuffer>;
  owner?: object; // of one raster after another, such as those of a film: they share a canvas
}

interface Scaled { // a raster in its place
  type: "picture";
  raster: Raster;
  // of the raster: that alone is drawn on a canvas; by default, and in an SVG, all of it is
  part?: [left: number, top: number, width: number, height: number];
  smooth?: boolean; // mix the pixels, where there are more than the screen has
  exact?: boolean; // the raster has the screen's pixels: a canvas moves it to whole ones
  title?: string; // what it shows, for programs that read SVG
  opacity?: number;
}

export type Picture = Place & Scaled;

export interface Group {
  type: "group";
  marks: Mark[];
  x?: number; // moves them
  y?: number;
  // a canvas cuts here; a file shows the whole picture, where nothing is cut
  clip?: [x: number, y: number, width: number, height: number];
  // of marks that are many and stay the same: a canvas draws them once and keeps the pixels as long
  // as this object lives
  layer?: [width: number, height: number];
  owner?: object; // has one layer after another, which take the same canvas
}

export type Mark = Rect | Path | Circle | Text | Picture | Group;

/** A small picture in a line of a legend. */
export interface Sample { width: number; gap?: number; marks: Mark[] }

export const rect = (mark: Omit<Rect, "type">): Rect => ({ type: "rect", ...mark });
export const path = (mark: Omit<Path, "type">): Path => ({ type: "path", ...mark });
export const circle = (mark: Omit<Circle, "type">): Circle => ({ type: "circle", ...mark });
export const text = (mark: Omit<Text, "type">): Text => ({ type: "text", ...mark });
export const picture = (mark: Omit<Picture, "type">): Picture => ({ type: "picture", ...mark });
export const group = (marks: Mark[], options: Omit<Group, "type" | "marks"> = {}): Group =>
  ({ type: "group", marks, ...options });
