// Part of the page itself, before Streamlit's scripts: one action of the reader is one entry of the
// browser's history.
//
// Streamlit makes no entry where a reader changes a widget, and one for each value that Python
// sets. Here the first change of the address after an action makes the entry, and all that follow
// from the same action change it. What is typed into one field is one action, until another one
// comes or all of it is replaced.
//
// After Back and Forward the page must come to what the address says. Streamlit asks for that once,
// and what the reader does before the answer replaces the request by one that sends the widgets of
// the entry that was left. Each run says at its end which address it shows, and whether it was
// restored (`address.py`): until that is this one, it is asked for again.
{
  // the folder of the address is the server's: without this Streamlit asks below the page, too
  Object.assign(window, { __streamlit: { BACKEND_BASE_URL: new URL(".", location.href).href } });

  const push = history.pushState.bind(history);
  const replace = history.replaceState.bind(history);
  let acted = false;
  let restored = false; // the reader went Back or Forward, and has not acted since
  /** @type {EventTarget | undefined} */
  let field;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let watch; // while it runs, the page says so: `data-settling`

  /** @type {typeof history.pushState} */
  const write = (state, unused, url) => {
    const moves = url != null && new URL(url, location.href).href !== location.href;
    if (moves && restored) return; // what comes late is of another entry
    (moves && acted ? push : replace)(state, unused, url);
    if (!moves) return;
    acted = false;
    dispatchEvent(new Event("headlight-address")); // the player keeps its step in the address
  };
  history.pushState = write;
  history.replaceState = write;

  const act = () => {
    acted = true;
    restored = false;
    field = undefined;
  };

  /** @param {Event} event */
  const target = (event) => event.composedPath()[0];

  /**
   * Test whether each letter can change the address; on sliders and numbers a key is an action.
   *
   * @param {EventTarget} element
   * @returns {element is HTMLInputElement | HTMLTextAreaElement}
   */
  const isField = (element) => element instanceof HTMLTextAreaElement
    || (element instanceof HTMLInputElement && element.type === "text");

  addEventListener("pointerdown", act, true);
  addEventListener("keydown", (event) => {
    const typed = isField(target(event)) && event.key !== "Enter";
    // not trusted is the Enter of `live_text.js`: letters that were typed before Back count here
    if (event.isTrusted ? !event.repeat && !typed : restored) act();
  }, true);
  addEventListener("beforeinput", (event) => {
    const element = target(event);
    if (!isField(element) || "replacing" in element.dataset) return;
    const { value, selectionStart, selectionEnd } = element;
    const all = value !== "" && selectionStart === 0 && selectionEnd === value.length;
    if (element !== field || all) act();
    field = element;
  }, true);

  const TICK = 100; // ms
  const LONGEST = 20_000; // ms; by then the server would have answered
  const AT_REST = "[data-testid=stApp][data-test-script-state=notRunning]";

  const currentAnswer = () =>
    /** @type {HTMLElement | null} */ (document.querySelector("[data-address]"));

  /** @param {HTMLElement | null} answer */
  const isRestored = (answer) => {
    const { address } = answer?.dataset ?? {};
    if (address === undefined || answer?.dataset.restored !== "True") return false;
    const { pathname, searchParams } = new URL(address, location.origin);
    return location.pathname.endsWith(pathname)
      && `${searchParams}` === `${new URLSearchParams(location.search)}`;
  };

  const stop = () => {
    clearInterval(watch);
    delete document.documentElement.dataset.settling;
  };

  /**
   * Ask Streamlit for this address again if no run for it comes to an end.
   *
   * @param {number} patience ms at rest before it does
   */
  const settle = (patience) => {
    const before = currentAnswer()?.outerHTML;
    let rested = 0;
    stop();
    document.documentElement.dataset.settling = "";
    watch = setInterval(() => {
      rested = document.querySelector(AT_REST) ? rested + TICK : 0;
      if (rested === 0) return;
      const answer = currentAnswer();
      const settled = answer?.outerHTML !== before && isRestored(answer);
      if (!settled && rested < patience) return;
      stop();
      // each time with more patience, for a server that is slow to begin
      if (!settled && patience < LONGEST) again(2 * patience);
    }, TICK);
  };

  /** @param {number} patience */
  const again = (patience) => {
    dispatchEvent(new PopStateEvent("popstate"));
    settle(patience);
  };

  addEventListener("popstate", ({ isTrusted }) => {
    if (!isTrusted) return;
    acted = false;
    restored = true;
    field = undefined;
    settle(10 * TICK);
  }, true);
}
