// The script of a saved page, which carries its data as text.

import { adoptStyle } from "./core/style.js";
import { mount } from "./core/view.js";
import { decode } from "./core/wire.js";
import { read, unzip } from "./explorer/data.js";
import { Explorer } from "./explorer/view.js";

const data = /** @type {HTMLElement} */ (document.getElementById("weights"));
const heads = /** @type {HTMLElement} */ (document.getElementById("heads"));
adoptStyle(heads);
mount(heads, Explorer, read(decode(await unzip(data.textContent ?? ""))));

const frame = /** @type {HTMLElement | null} */ (window.frameElement);
if (frame) { // a notebook gives the page a frame: as high as it needs
  new ResizeObserver(() => {
    frame.style.height = `${document.body.scrollHeight + 4}px`;
  }).observe(document.body);
}
