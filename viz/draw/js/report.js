// The script of a saved page, which carries its data as text. It runs before the page is read to
// its end: the heads of a large trace follow it.

import { adoptStyle } from "./core/style.js";
import { textOf, unzip } from "./core/page_text.js";
import { mount } from "./core/view.js";
import { decode } from "./core/wire.js";
import { read } from "./explorer/data.js";
import { Explorer } from "./explorer/view.js";
import { followHost } from "./host.js";

const heads = /** @type {HTMLElement} */ (document.getElementById("heads"));
const frame = /** @type {HTMLElement | null} */ (window.frameElement);
adoptStyle(heads);
const message = decode(await unzip(await textOf("weights")));
if (frame) followHost(frame, () => explorer.repaint());
const explorer = mount(heads, Explorer, read(message, textOf));

if (frame) { // a notebook gives the page a frame: as high as it needs
  new ResizeObserver(() => {
    frame.style.height = `${document.body.scrollHeight + 4}px`;
  }).observe(document.body);
}
