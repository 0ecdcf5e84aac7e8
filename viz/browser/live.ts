// The script of a live page: the first page of a site, and its lesson.

import { followHost } from "./core/host_theme.ts";
import { readMessage } from "./live/data.ts";
import { LessonPage } from "./live/lesson_page.ts";
import { LivePage } from "./live/page.ts";

document.getElementById("unscripted")?.remove();
if (window.top !== window.self) { // a page around this one shows one part of it
  const part = document.getElementById(location.hash.slice(1));
  if (part) document.documentElement.classList.add("framed");
  for (const other of document.querySelectorAll<HTMLElement>("header, section, footer")) {
    if (part) other.hidden = other !== part;
  }
}
const data = await readMessage("live-data");
if (window.location.protocol.startsWith("http")) {
  navigator.serviceWorker?.register(data.worker).catch(() => {}); // it is for the next visit alone
}
const lesson = document.getElementById("lesson");
const page = lesson ? new LessonPage(lesson, data) : new LivePage(data);
if (window.frameElement) followHost(window.frameElement as HTMLElement, () => page.redraw());
await page.begin();
