// The script of a report with all parts: it draws the pictures, shows what a removal changes, and
// opens findings.

import { bringIntoView } from "./core/dom.ts";
import { followHost } from "./core/host_theme.ts";
import { readTrace } from "./core/trace.ts";
import { mount } from "./core/view.ts";
import { decode, textOf, unzip } from "./core/wire.ts";
import { Explorer, headOf } from "./explorer.ts";
import { Player } from "./player/view.ts";
import { WordLinks } from "./word_links/view.ts";

const message = async (id: string) => decode(await unzip(await textOf(id)));

// the sentence of the page, of which every picture is made
let traced: Promise<any> | undefined;
const sentence = () => (traced ??= message("trace-data").then(({ trace, ...rest }) =>
  ({ ...rest, trace: readTrace(trace) })));

let explorer: Explorer | undefined;

async function draw(place: HTMLElement) {
  if (place.firstChild) return;
  const { picture = "", head } = place.dataset;
  const data = await sentence();
  if (picture === "player") mount(place, Player, Player.read(data));
  else if (picture === "links") mount(place, WordLinks, WordLinks.read(data));
  else {
    const read = Explorer.read(await message(picture), textOf, data.trace);
    if (head) read.selected = headOf(head);
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
