"""Faults in the layout of a lesson's cards: on laptops, on a phone, on the phone turned.

The text of a card is whole, or it can be scrolled and ends at a seam; the question, the field and
the ways on are in sight, and nothing lies over them; so is the place that the card lights. Each
card is measured as it opens, folded and unfolded, and once its answer is shown.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlencode

from viz.app.lessons.progress import card_view
from viz.lessons import Card, Lesson

SIZES = ((1280, 720), (1440, 900), (390, 844), (844, 390))  # width and height in CSS pixels
PATIENCE = 30.0  # seconds until a card is there
SETTLED = 1.0  # seconds in which the page does not change any more

# what is wrong with the card on the screen, as a list of short sentences
FAULTS = """(answered) => {
  const HEAD = document.querySelector("[data-present]") ? 0 : 48, EDGE = 1;
  const find = (selector) => document.querySelector(`.st-key-lesson ${selector}`);
  const panel = document.querySelector(".st-key-lesson");
  const frame = panel.getBoundingClientRect();
  const faults = [];
  const shown = (element) => element?.checkVisibility();
  // the four corners and the middle of a place, as far as they are its own
  const free = (element) => {
    const { left, right, top, bottom } = element.getBoundingClientRect();
    if (top < HEAD - EDGE || bottom > innerHeight + EDGE) return false;
    if (left < -EDGE || right > innerWidth + EDGE) return false;
    const points = [[left + 4, top + 4], [right - 4, top + 4], [left + 4, bottom - 4],
      [right - 4, bottom - 4], [(left + right) / 2, (top + bottom) / 2]];
    return points.every(([x, y]) => {
      const there = document.elementFromPoint(x, y);
      return there && panel.contains(there);
    }) && top >= frame.top - EDGE && bottom <= frame.bottom + EDGE;
  };
  const parts = {
    "question": ".st-key-lesson-act [data-testid=stMarkdown]",
    "field": "[class*=lesson-typed-] input, [class*=lesson-chosen-] [role=radiogroup]",
    "button": "[class*=st-key-lesson-check-] button",
    "verdict": "[class*=st-key-lesson-verdict-]",
    "way on": "[class*=st-key-lesson-next] :is(a, button)",
  };
  if (answered) for (const name of ["question", "field"]) delete parts[name];
  for (const [name, selector] of Object.entries(parts)) {
    const element = find(selector);
    if (!shown(element) || free(element)) continue;
    const scroller = element.closest("[data-scrolls]");
    if (!(scroller && name === "verdict")) faults.push(`${name} is not in sight`);
  }
  if (panel.scrollWidth > panel.clientWidth + EDGE) faults.push("panel is too narrow");
  if (panel.scrollHeight > panel.clientHeight + EDGE) faults.push("panel scrolls as a whole");
  // each paragraph: whole in the panel, or in a scroller whose edge can be seen
  for (const text of panel.querySelectorAll("p, li, h1, h2, h3")) {
    if (!shown(text) || text.closest("button, a, label")) continue;
    const { top, bottom, left, right } = text.getBoundingClientRect();
    if (bottom - top < 2 || right - left < 2) continue;
    let scroller = text.parentElement;
    while (scroller !== panel && !(/auto|scroll/.test(getComputedStyle(scroller).overflowY)
      && scroller.scrollHeight > scroller.clientHeight + EDGE)) scroller = scroller.parentElement;
    const box = scroller.getBoundingClientRect();
    const cut = Math.max(0, bottom - box.bottom) + Math.max(0, box.top - top);
    const covered = [top + 3, bottom - 3].some((y) => y > box.top && y < box.bottom
      && ![left + 2, (left + right) / 2].some((x) => text.contains(document.elementFromPoint(x, y))
        || document.elementFromPoint(x, y)?.contains(text)));
    if (covered) faults.push(`text is covered: ${text.innerText.slice(0, 30)}`);
    if (cut < EDGE) continue;
    const { borderBottomWidth, borderBottomColor } = getComputedStyle(scroller);
    const seam = parseFloat(borderBottomWidth) >= 1 && !/, 0\\)/.test(borderBottomColor);
    if (scroller === panel || !seam) {
      faults.push(`cut without a seam: ${text.innerText.slice(0, 30)}`);
    }
    if (box.height < 60) faults.push(`only ${Math.round(box.height)} px of the text`);
  }
  return faults;
}"""

LIT = """() => {
  const lit = document.querySelector(".hl-lit");
  if (!lit) return "nothing is lit";
  const HEAD = document.querySelector("[data-present]") ? 0 : 48;
  const place = lit.getBoundingClientRect();
  const panel = document.querySelector(".st-key-lesson").getBoundingClientRect();
  const beside = panel.left > 0;
  const foot = beside ? innerHeight : panel.top, side = beside ? panel.left : innerWidth;
  const seen = Math.min(place.bottom, foot) - Math.max(place.top, HEAD);
  const most = Math.min(place.height - 2, 0.9 * (foot - HEAD));
  if (place.left < -8 || place.right > side + 8) return "lit place is wider than the room";
  const maps = lit.matches(".st-key-forming-player")
    && document.querySelector('[data-light^="grid"]');
  if (maps && place.bottom > foot + 8) return "the small maps are out of sight";
  if (seen >= most && place.height > 0) return "";
  const [all, some, room] = [place.height, seen, foot - HEAD].map(Math.round);
  return `of ${all} px lit, ${some} in sight in a room of ${room}`;
}"""

# until no part of the card has moved for so many milliseconds, or has moved for long
SETTLE = """(still) => new Promise((done) => {
  const places = () => [...document.querySelectorAll(".st-key-lesson *, .hl-lit")].slice(0, 90)
    .map((element) => Math.round(element.getBoundingClientRect().top)).join();
  const began = performance.now();
  let [before, since] = [places(), began];
  const look = () => {
    const [now, at] = [places(), performance.now()];
    if (now !== before) [before, since] = [now, at];
    if (at - since >= still || at - began > 20 * still) done();
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
})"""


def measure(
    page: Any,
    enter: Callable[[str], object],
    lesson: Lesson,
    sizes: Sequence[tuple[int, int]] = SIZES,
) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the size and a sentence on each fault of a lesson's layout.

    `enter` brings the page to a path of the app with its query.
    """
    from playwright.sync_api import TimeoutError  # an extra of the tests

    for number, card in enumerate(lesson.cards):
        view = card_view(lesson, card, "translate")
        path = "" if view.page == "translate" else view.page
        query = {**view.choices, "lesson": lesson.name, "card": number + 1}
        page.set_viewport_size({"width": sizes[0][0], "height": sizes[0][1]})
        enter(f"{path}?{urlencode(query, doseq=True)}")
        for state in ("asked", "answered") if card.ask else ("asked",):
            try:
                if state == "answered":
                    page.locator(f".st-key-lesson-show-{number} button").click()
                    _rest(page, f".st-key-lesson-verdict-{number}")
                else:
                    _rest(page, f".st-key-lesson-card-{number}", bool(card.ask))
            except TimeoutError:
                yield sizes[0], f"card {number + 1}, {state}: does not come"
                break
            for size in sizes:
                for fault in _faults(page, size, card, state):
                    yield size, f"card {number + 1}, {state}: {fault}"


def _faults(page: Any, size: tuple[int, int], card: Card, state: str) -> Iterator[str]:
    from playwright.sync_api import TimeoutError  # an extra of the tests

    page.set_viewport_size({"width": size[0], "height": size[1]})
    _settle(page)
    yield from page.evaluate(FAULTS, state == "answered")
    is_lit = card.light and card.view and not (card.predict and state == "asked")
    if is_lit:
        with suppress(TimeoutError):  # of a picture that a job computes; that there is none is said
            page.locator(".hl-lit").first.wait_for(state="attached", timeout=PATIENCE * 1000)
        _settle(page)
        if fault := page.evaluate(LIT):
            yield fault
    fold = page.locator(".st-key-lesson [data-fold]")
    if fold.count() and fold.is_visible():
        fold.click()
        _settle(page)
        yield from (f"{fault} (unfolded)" for fault in page.evaluate(FAULTS, state == "answered"))
        fold.click()
        _settle(page)


def _rest(page: Any, place: str, field: bool = False) -> None:
    """Wait for a place, the end of the run, and the field of a question."""
    selectors = [f"[data-testid=stApp][data-test-script-state=notRunning] {place}"]
    if field:
        selectors.append(".st-key-lesson :is(input, [class*=lesson-sentence])")
    for selector in selectors:
        page.locator(selector).first.wait_for(state="attached", timeout=PATIENCE * 1000)


def _settle(page: Any) -> None:
    """Wait until nothing has moved for a moment."""
    page.evaluate(SETTLE, SETTLED * 300)
