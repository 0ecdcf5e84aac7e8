// The tiles of a player, one for each head of a kind. A tile lends its ribbons to the picture while
// it is pointed at; a click keeps them there.

import { paint, sized } from "../core/canvas.ts";
import { ARROWS, make, pointIn } from "../core/dom.ts";
import { forHand, within } from "../core/text.ts";
import type { Theme } from "../core/theme.ts";
import { isSame, type Moment, tileMarks } from "./marks.ts";
import { type Head, type KindData, planTiles, type PlayerData } from "./plan.ts";
import { titleOf } from "./sentences.ts";

const HELP = "The arrow keys move from head to head, Enter keeps one, Escape goes back.";

/** The player that the tiles belong to. */
interface Host {
  data: PlayerData;
  kind: KindData;
  theme: Theme;
  moment: Moment;
  selected: Record<string, Head>; // by kind
  ribbons: "head" | "links";
  outlined: Head | null;
  live: HTMLElement;
  open(head: Head): void;
  draw(): void;
  sentence(): string;
}

export class Tiles {
  canvas = make("canvas", { "aria-hidden": "true" });
  root = make("div", { class: "hl-player-tiles", tabindex: "0", role: "application" }, this.canvas);
  pointed: Head | null = null; // under the pointer or the cursor
  player: Host;
  declare layout: ReturnType<typeof planTiles>;

  constructor(player: Host) {
    this.player = player;
    this.canvas.addEventListener("pointermove", (event) => this.point(this.under(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.canvas.addEventListener("click", (event) => {
      const head = this.under(event);
      if (head) player.open(head);
    });
    this.root.addEventListener("blur", () => this.point(null));
  }

  get hint() {
    const { pointed, player: { kind, selected, ribbons } } = this;
    const isWatched = ribbons === "head" && isSame(pointed, selected[kind.kind]);
    return pointed && !isWatched ? forHand(`Click: watch ${titleOf(pointed)}.`) : "";
  }

  arrange(width: number) {
    const { kind, data } = this.player;
    this.layout = planTiles(kind, width, data.training.length > 0);
  }

  draw() {
    const { layout: { width, height, tiles }, player: { moment, outlined, theme, kind } } = this;
    paint(sized(this.canvas, width, height), tileMarks({ ...moment, tiles, outlined }), theme.font);
    this.root.setAttribute("aria-label", `${kind.name}: a tile for each head. ${HELP}`);
  }

  press(key: string): boolean {
    const { player, player: { kind } } = this;
    const { layer, head } = this.pointed ?? player.selected[kind.kind];
    if ((key === "Enter" || key === " ") && this.pointed) player.open(this.pointed);
    else if (key in ARROWS) {
      const [right, down] = ARROWS[key];
      this.point({
        kind: kind.kind, layer: within(layer + down, 0, kind.layers - 1),
        head: within(head + right, 0, kind.heads - 1),
      });
      player.live.textContent = player.sentence();
    } else if (key === "Escape") this.point(null);
    else return false;
    return true;
  }

  under(event: PointerEvent | MouseEvent): Head | null {
    const [x, y] = pointIn(event, this.canvas);
    const tile = this.layout.tiles.find((place) => Math.abs(x - place.x - place.width / 2)
      < place.width / 2 + 3 && y >= place.y - 2 && y < place.y + place.height + 3);
    return tile ? { kind: this.player.kind.kind, layer: tile.layer, head: tile.head } : null;
  }

  point(head: Head | null) {
    if (isSame(head, this.pointed)) return;
    this.pointed = head;
    this.player.draw();
  }
}
