"""One action of the reader is one entry of the browser's history; Back and Forward are exact."""

import re
import time
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.browser import app_page
from tests.browser.servers import LATE, SLOW

# the walk stands beside whatever else holds both cores
pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

FIRST = {"text": "The dog sings.", "kind": "decoder", "head": "2"}
TYPED = "The cat sleeps."

# the address that the last run named as the one on the screen, and nothing is going on
ANSWERED = """() => {
    const app = document.querySelector("[data-testid=stApp]");
    const named = document.querySelector("[data-address]")?.dataset.address;
    if (app?.dataset.testScriptState !== "notRunning" || !named) return false;
    if ("settling" in document.documentElement.dataset) return false; // `history.js` still watches
    const { pathname, searchParams } = new URL(named, location.origin);
    return pathname === location.pathname
        && `${searchParams}` === `${new URLSearchParams(location.search)}`;
}"""


class Wire:
    """Messages between the page and the server, which can be held or lost on the way."""

    def __init__(self, page):
        self.held: list[str | bytes] | None = None
        self.lost = 0
        page.route_web_socket(re.compile("_stcore/stream"), self._connect)

    def _connect(self, page):
        server = page.connect_to_server()
        self._page = page

        def to_server(message):
            self.lost -= 1
            if self.lost < 0:
                server.send(message)

        def to_page(message):
            if self.held is None:
                page.send(message)
            else:
                self.held.append(message)

        page.on_message(to_server)
        server.on_message(to_page)

    @contextmanager
    def holding(self):
        """Hold the answers of the server until the block ends."""
        self.held = []
        yield
        held, self.held = self.held, None
        for message in held:
            self._page.send(message)


@pytest.fixture(scope="module")
def opened(browser, address):
    """The app at a link to one head, and the addresses that were asked for and not there."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(app_page.PATIENCE)
    wire = Wire(page)
    missing: list[str] = []
    page.on("response", lambda answer: missing.append(answer.url) if answer.status > 399 else None)
    page.goto(f"{address}/heads?{urlencode(FIRST)}")
    page.locator(".st-key-heads-map .hl canvas").first.wait_for()
    at_rest(page)
    yield page, wire, missing
    page.close()


def at_rest(page):
    """The page shows what its address says."""
    app_page.until(page, lambda: page.evaluate(ANSWERED), True)


def state(page):
    """Return the address and what the page shows: title, sentence and all menus."""
    href, title, shown = page.evaluate(
        """() => {
            const main = document.querySelector("[data-testid=stMain]");
            return [location.href, document.title, [
                ...[...main.querySelectorAll("input, textarea")].map(e => e.value),
                ...[...main.querySelectorAll("[aria-checked=true]")].map(e => e.innerText),
                ...[...main.querySelectorAll("h1")].map(e => e.textContent),
            ]];
        }"""
    )
    at = urlsplit(href)
    return at.path, set(parse_qsl(at.query)), title, shown


def whole_state(page):
    """The state once nothing more comes: the last boxes may be drawn after the page is at rest."""
    at_rest(page)
    before, shown = None, state(page)
    while shown != before:
        page.wait_for_timeout(200)
        before, shown = shown, state(page)
    return shown


def expect_state(page, wanted, stays=0):
    """The page comes to this state, and stays in it for so many seconds.

    A run that was asked for once more may begin when the page is at rest already.
    """
    since = began = time.monotonic()
    while (now := time.monotonic()) - began < app_page.PATIENCE / 1000:
        shown = state(page)
        if shown != wanted or (stays and not page.evaluate(ANSWERED)):
            since = now
        if shown == wanted and now - since >= stays:
            return
        page.wait_for_timeout(100)
    assert shown == wanted, "it does not stay"


def type_with_pauses(page):
    page.get_by_label("English").click()
    page.keyboard.press("Control+A")
    page.keyboard.type(TYPED[:8], delay=10)
    page.wait_for_timeout(350)  # an answer comes in between
    page.keyboard.type(TYPED[8:], delay=10)


def test_one_action_is_one_entry_and_back_and_forward_are_exact(opened):
    page, _, missing = opened
    assert missing == []
    walk = [
        (lambda: page.get_by_role("gridcell", name="encoder, layer 2, head 3").click(), {}),
        (lambda: type_with_pauses(page), {"text": TYPED}),
        (lambda: page.locator(".st-key-findings-links a").first.click(), {"text": TYPED}),
        (lambda: app_page.open_page(page, "Masks"), {"text": TYPED}),
    ]
    states = [whole_state(page)]
    assert states[0][1] == set(FIRST.items())
    length = page.evaluate("history.length")
    for number, (act, wanted) in enumerate(walk, start=1):
        act()
        app_page.until(page, lambda: state(page)[:2] != states[-1][:2], True)
        app_page.expect_url(page, **wanted)
        states.append(whole_state(page))
        assert page.evaluate("history.length") == length + number
    assert states[-1][2] == f"Masks · {TYPED} · Headlight"
    first, second, third, fourth, last = states
    for before in (fourth, third):
        page.go_back(wait_until="commit")
        expect_state(page, before)
    page.evaluate("history.go(2)")  # as from the menu of the browser's button
    expect_state(page, last)
    assert page.evaluate("history.length") == length + len(walk)
    # faster than any answer comes
    page.evaluate("for (let n = 0; n < 4; n++) setTimeout(() => history.back(), 40 * n)")
    expect_state(page, first, stays=1)
    page.go_forward(wait_until="commit")
    expect_state(page, second)
    assert page.locator("h1").count() == 1
    assert missing == []


def go_to_entries(page, *queries):
    """Make an entry of the page of all heads for each query, and show the last one."""
    for query in queries:
        to = f"/heads?{urlencode(query)}"
        page.evaluate(f"History.prototype.pushState.call(history, {{}}, '', '{to}')")
    page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    at_rest(page)


def expect_agreement(page, sentence, kind):
    """Address, title, heading, box and menu come to say the same, and stay so."""
    app_page.expect_url(page, text=sentence, kind="" if kind == "cross" else kind)
    at_rest(page)
    app_page.expect(page).to_have_title(f"All heads · {sentence} · Headlight")
    app_page.expect(page.get_by_role("textbox", name="English")).to_have_value(sentence)
    app_page.expect(page.get_by_role("radio", name=kind)).to_be_checked()
    app_page.expect(page.locator("h1")).to_have_text(f"All heads · {sentence}")


def test_no_late_lost_or_overtaken_answer_changes_what_is_shown(opened):
    page, wire, _ = opened
    # a run that begins late does not change what the newer one reads
    late = {"text": "The cat sleeps.", "kind": "encoder", "sort": LATE}
    go_to_entries(page, {"text": SLOW, "kind": "decoder"}, late, FIRST)
    page.evaluate("history.back(); setTimeout(() => history.back(), 100)")
    expect_agreement(page, SLOW, "decoder")
    # a choice that is made before Back is answered is made there
    typed = {"text": TYPED, "kind": "encoder"}
    go_to_entries(page, FIRST, typed)
    with wire.holding():
        page.go_back(wait_until="commit")
        page.get_by_role("radio", name="cross").click()
        page.wait_for_timeout(300)  # the server answers both, one after the other
    expect_agreement(page, FIRST["text"], "cross")
    # letters that were typed before Back are not lost
    go_to_entries(page, FIRST, typed)
    page.get_by_role("textbox", name="English").press("End")
    page.evaluate("document.execCommand('insertText', false, ' So.'); history.back()")
    expect_agreement(page, f"{TYPED} So.", "decoder")
    # Back is asked for again where its request was lost
    go_to_entries(page, FIRST, typed)
    wire.lost = 1
    page.go_back(wait_until="commit")
    expect_agreement(page, FIRST["text"], "decoder")
