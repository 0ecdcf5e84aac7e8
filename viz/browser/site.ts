// The script of a report with all parts: it draws the pictures, shows what a removal changes, and
// opens findings.

import { bringIntoView } from "./core/dom.ts";
import { followHost } from "./core/host_theme.ts";
import { mount } from "./core/view.ts";
import { decode, textOf, unzip } from "./core/wire.ts";
import { Explorer, headOf } from "./explorer.ts";
import { Player } from "./player/view.ts";
import { WordLinks } from "./word_links/view.ts";

const message = async (id: string) => decode(await unzip(await textOf(id)));

let explorer: Explorer | undefined;

async function draw(place: HTMLElement) {
  if (place.firstChild) return;
  const data = await message(place.dataset.picture as string);
  if (data.component === "player") mount(place, Player, data);
  else if (data.component === "word_links") mount(place, WordLinks, data);
  else {
    const read = Explorer.read(data, textOf);
    if (place.dataset.head) read.selected = headOf(place.dataset.head);
    explorer = mount(place, Explorer, read);
  }
}

document.getElementById("unscripted")?.remove();
if (window.frameElement) followHost(window.frameElement as HTMLElement, () => explorer?.repaint());

const choices = [...document.querySelectorAll<HTMLButtonElement>(".choices button")];
for (const button of choices) {
  button.addEventListener("click", () => {
    for (const other of choices) {
      const text = document.getElementById(other.getAttribute("aria-controls") as string);
      other.setAttribute("aria-pressed", String(other === button));
      (text as HTMLElement).hidden = other !== button;
    }
  });
}
for (const button of document.querySelectorAll<HTMLElement>("button[data-head]")) {
  button.addEventListener("click", () => {
    explorer?.overview?.open(headOf(button.dataset.head as string));
    if (button.closest("header")) bringIntoView(".hl-explorer-open");
  });
}

await Promise.all([...document.querySelectorAll<HTMLElement>("[data-picture]")].map(draw));
performance.mark("drawn");
