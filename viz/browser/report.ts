// The script of a saved page, which carries its data as text. It runs before the page is read to
// its end: the heads of a large trace follow it.

import { bringIntoView } from "./core/dom.ts";
import { brightness } from "./core/theme.ts";
import { mount } from "./core/view.ts";
import { decode, textOf, unzip } from "./core/wire.ts";
import { Explorer, headOf } from "./explorer.ts";

const RGB = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/; // as a browser writes a colour
const heads = document.getElementById("heads") as HTMLElement;
const frame = window.frameElement as HTMLElement | null;
const message = decode(await unzip(await textOf("weights")));
if (frame) followHost(frame, () => explorer.repaint());
const explorer = mount(heads, Explorer, Explorer.read(message, textOf));
document.getElementById("unscripted")?.remove();

for (const finding of document.querySelectorAll("header button")) {
  finding.addEventListener("click", () => {
    explorer.overview?.open(headOf(finding.getAttribute("data-head") ?? ""));
    bringIntoView(".hl-explorer-open");
  });
}

if (frame) { // a notebook gives the page a frame: as high as it needs
  new ResizeObserver(() => {
    frame.style.height = `${document.body.scrollHeight + 4}px`;
  }).observe(document.body);
}

/** Take over the theme of the page around a frame, now and when it changes, unless the page in the
 * frame was made in a theme of its own: JupyterLab, VS Code and Colab have a dark one, whatever
 * the reader's system has. */
function followHost(inner: HTMLElement, repaint: () => void) {
  const { dataset } = document.documentElement;
  if (dataset.theme !== "auto") return;
  const apply = () => {
    const theme = themeAround(inner);
    if (!theme || theme === dataset.theme) return false;
    dataset.theme = theme;
    return true;
  };
  apply();
  const observer = new MutationObserver(() => {
    // the page around the frame outlives it
    if (!inner.isConnected) observer.disconnect();
    else if (apply()) repaint();
  });
  const { documentElement, body } = inner.ownerDocument;
  // the attributes that these three change with their theme
  const attributeFilter = ["class", "style", "theme", "data-jp-theme-light", "data-theme"];
  for (const node of [documentElement, body]) observer.observe(node, { attributeFilter });
}

function themeAround(inner: HTMLElement): "light" | "dark" | null {
  for (let node = inner.parentElement; node; node = node.parentElement) {
    const color = RGB.exec(getComputedStyle(node).backgroundColor);
    if (!color || Number(color[4] ?? 1) < 0.5) continue; // what lies under it is seen
    return brightness(color.slice(1, 4).map(Number)) < 128 ? "dark" : "light";
  }
  return null;
}
