// The script of a saved page, which carries its data as text. It runs before the page is read to
// its end: the heads of a large trace follow it.

import { bringIntoView } from "./core/dom.ts";
import { followHost } from "./core/host_theme.ts";
import { mount } from "./core/view.ts";
import { decode, textOf, unzip } from "./core/wire.ts";
import { Explorer, headOf } from "./explorer.ts";

const heads = document.getElementById("heads") as HTMLElement;
const frame = window.frameElement as HTMLElement | null;
let explorer: Explorer | null = null;

if (frame) followHost(frame, () => explorer?.repaint());
const data = await Explorer.read(decode(await unzip(await textOf("weights"))), textOf);
explorer = mount(heads, Explorer, data);
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
