// The theme of the page around a frame: JupyterLab, VS Code and Colab have a dark one of their own,
// whatever the reader's system has.

import { brightness } from "./core/theme.js";

const RGB = /^rgba?\((\d+), (\d+), (\d+)(?:, ([\d.]+))?\)$/; // as a browser writes a colour

/**
 * Take over the theme of the page around a frame, now and when it changes, unless the page in the
 * frame was made in a theme of its own.
 * @param {HTMLElement} frame
 * @param {() => void} repaint called when the theme has changed
 */
export function followHost(frame, repaint) {
  const { dataset } = document.documentElement;
  if (dataset.theme !== "auto") return;
  const apply = () => {
    const theme = themeAround(frame);
    if (!theme || theme === dataset.theme) return false;
    dataset.theme = theme;
    return true;
  };
  apply();
  const observer = new MutationObserver(() => {
    // the page around the frame outlives it
    if (!frame.isConnected) observer.disconnect();
    else if (apply()) repaint();
  });
  const { documentElement, body } = frame.ownerDocument;
  // the attributes that these three change with their theme
  const attributeFilter = ["class", "style", "theme", "data-jp-theme-light", "data-theme"];
  for (const node of [documentElement, body]) observer.observe(node, { attributeFilter });
}

/**
 * Derive the theme from the colour under a frame; null where it stands on none.
 * @param {HTMLElement} frame
 * @returns {"light" | "dark" | null}
 */
function themeAround(frame) {
  for (let node = frame.parentElement; node; node = node.parentElement) {
    const color = RGB.exec(getComputedStyle(node).backgroundColor);
    if (!color || Number(color[4] ?? 1) < 0.5) continue; // what lies under it is seen
    return brightness(color.slice(1, 4).map(Number)) < 128 ? "dark" : "light";
  }
  return null;
}
