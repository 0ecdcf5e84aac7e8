// Part of the page itself: the place that the open card of a lesson highlights.
//
// Python names keys of elements (`panel.py`), in the order in which they count; which of them the
// page has is known here alone, and changes as it is drawn.
{
  const LIT = "hl-lit";
  const PANEL = ".st-key-lesson";
  const HEADER = 72; // px above what is lit
  /** Card and page that are open. */
  let opened = "";
  /** Whether the place is kept in sight. */
  let following = false;
  /** @type {Element | null} */
  let watched = null;
  /** @type {Element | null} */
  let measured = null;

  /** @param {string} key */
  const place = (key) => document.querySelector(`.st-key-${CSS.escape(key)}, .${CSS.escape(key)}`);

  const light = () => {
    const panel = document.querySelector(PANEL);
    if (panel !== measured) {
      measured = panel;
      panels.disconnect();
      if (panel) panels.observe(panel);
    }
    const card = /** @type {HTMLElement | null} */ (document.querySelector("[data-light]"));
    const keys = card?.dataset.light?.split(" ") ?? [];
    const lit = keys.map(place).find((element) => element !== null) ?? null;
    for (const other of document.querySelectorAll(`.${LIT}`)) {
      if (other !== lit) other.classList.remove(LIT);
    }
    if (lit === null || card === null) return;
    if (!lit.classList.contains(LIT)) lit.classList.add(LIT);
    const name = `${card.dataset.card} ${location.pathname}`;
    if (name !== opened) [opened, following] = [name, true];
    if (lit !== watched) {
      watched = lit;
      sizes.disconnect();
      sizes.observe(lit);
      sizes.observe(lit.closest("[data-testid=stMainBlockContainer]") ?? document.body);
    }
    if (!following) return;
    const { height } = lit.getBoundingClientRect();
    const room = innerHeight - HEADER - (panel ? below(panel) : 0);
    // the small maps of this player are at its end
    const end = keys[0] === "grid" && lit.matches(".st-key-forming-player") ? "end" : "start";
    lit.scrollIntoView({ block: height > room ? end : "nearest" });
  };

  /** Height of the panel where it lies below the page. @param {Element} panel */
  const below = (panel) => {
    const { left, height } = panel.getBoundingClientRect();
    return left > 0 ? 0 : height;
  };

  // how much of the window the panel takes: the page ends above it, and what is lit is scrolled to
  const panels = new ResizeObserver(([{ target }]) => {
    document.documentElement.style.setProperty("--hl-lesson-height", `${below(target)}px`);
    light();
  });

  // pictures come late, and move what is below them
  const sizes = new ResizeObserver(light);

  // from then on it is the reader who scrolls
  for (const act of ["wheel", "touchmove", "pointerdown", "keydown"]) {
    addEventListener(act, ({ target }) => {
      if (!(target instanceof Element && target.closest(PANEL))) following = false;
    }, { capture: true, passive: true });
  }
  addEventListener("click", ({ target }) => {
    const fold = target instanceof Element && target.closest("[data-fold]");
    if (fold) fold.ariaExpanded = String(fold.ariaExpanded !== "true");
    if (target instanceof Element && target.closest(`${PANEL} a`)) following = true;
  }, true);

  let waiting = 0;
  new MutationObserver(() => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(light);
  }).observe(document.documentElement, { childList: true, subtree: true });
}
