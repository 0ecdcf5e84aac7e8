// The theme of a page around a frame, which a notebook or a documentation may have of its own.

import { brightness } from "./theme.ts";

const RGB = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/; // as a browser writes a colour

/** Take over the theme of the page around a frame, now and when it changes, unless the page in the
 * frame was made in a theme of its own: JupyterLab, VS Code and Colab have a dark one, whatever
 * the reader's system has. */
export function followHost(inner: HTMLElement, repaint: () => void) {
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
