// The script of a saved page, which carries its data as text.

import { render } from "./components.js";
import { unzip } from "./explorer/data.js";

const data = /** @type {HTMLElement} */ (document.getElementById("weights"));
const heads = /** @type {HTMLElement} */ (document.getElementById("heads"));
render(heads, await unzip(data.textContent ?? ""));

const frame = /** @type {HTMLElement | null} */ (window.frameElement);
if (frame) { // a notebook gives the page a frame: as high as it needs
  new ResizeObserver(() => {
    frame.style.height = `${document.body.scrollHeight + 4}px`;
  }).observe(document.body);
}
