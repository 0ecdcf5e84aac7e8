// The script of a saved page, of one sentence or of many, which carries its data as text. It runs
// before the page is read to its end: the heads of a large trace follow it.

import { bringIntoView } from "./core/dom.ts";
import { followHost } from "./core/host_theme.ts";
import { mount } from "./core/view.ts";
import { decode, textOf, unzip } from "./core/wire.ts";
import { Explorer, headOf } from "./explorer.ts";
import type { TextOf } from "./head_weights.ts";
import type { Head } from "./head_grid/plan.ts";

const heads = document.getElementById("heads") as HTMLElement;
const frame = window.frameElement as HTMLElement | null;
const lines = document.getElementById("line") as HTMLSelectElement | null; // of many sentences

async function read(name: string, headText: TextOf) {
  return Explorer.read(decode(await unzip(await textOf(name))), headText);
}

let explorer: Explorer | undefined;
let shown = ""; // number of the sentence
let open: Head | undefined; // what was opened last stays open from sentence to sentence

async function showLine(list: HTMLSelectElement) {
  list.value = location.hash.slice(1);
  if (list.selectedIndex < 0) list.selectedIndex = 0;
  const asked = list.value;
  if (asked === shown) return;
  document.getElementById(`text-${shown}`)?.setAttribute("hidden", "");
  shown = asked;
  document.getElementById(`text-${asked}`)?.removeAttribute("hidden");
  const name = `line-${asked}`;
  const data = await read(name, (head) => textOf(`${name}.${head}`)).catch(() => null);
  if (asked !== shown) return; // another one was chosen meanwhile
  heads.hidden = !data;
  document.querySelector<HTMLElement>("[role=alert]")!.hidden = !!data;
  if (!data) return;
  if (open) {
    data.over = open[0] === data.selected[0] ? data.over : [];
    data.selected = open;
  }
  explorer = mount(heads, Explorer, data, { onSelect: (head) => { open = head; } });
}

if (frame) followHost(frame, () => explorer?.repaint());
if (lines) {
  // walking over the list fills no history
  lines.addEventListener("change", () => location.replace(`#${lines.value}`));
  addEventListener("hashchange", () => showLine(lines));
  await showLine(lines);
} else {
  explorer = mount(heads, Explorer, await read("weights", textOf));
}
document.getElementById("unscripted")?.remove();

for (const finding of document.querySelectorAll("header button")) {
  finding.addEventListener("click", () => {
    explorer?.overview?.open(headOf(finding.getAttribute("data-head") ?? ""));
    bringIntoView(".hl-explorer-open");
  });
}

if (frame) { // a notebook gives the page a frame: as high as it needs
  new ResizeObserver(() => {
    frame.style.height = `${document.body.scrollHeight + 4}px`;
  }).observe(document.body);
}
