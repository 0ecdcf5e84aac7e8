// Part of the page itself: what Streamlit's menus leave over the page, out of reach or unfocused.
{
  const DRAWER = "[data-testid=stSidebar]"; // where a phone has the menu of pages
  const CHOICES = "[data-testid=stMenuButtonBody]";
  const POPOVER = "[data-testid=stPopoverBody]";
  const OPENER = "[data-testid=stPopoverButton][aria-expanded=true]";
  const OWN = ".st-key-own-sentence"; // the link of the last of the first steps
  const REACHED = "a[href], button, input, textarea, [tabindex]";

  /** @param {string} selector @param {ParentNode} [root] */
  const find = (selector, root = document) =>
    /** @type {HTMLElement | null} */ (root.querySelector(selector));

  /** @param {Event} event @param {string} selector */
  const within = ({ target }, selector) => target instanceof Element && target.closest(selector);

  try {
    // Streamlit keeps whether the drawer is open, and would open it over the page after a reload
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith("stSidebarCollapsed-")) localStorage.removeItem(key);
    }
  } catch {
    // a browser may forbid to store anything: then nothing was kept
  }

  /** Put the cursor into the sentence of the first page, once a link has opened it. */
  const writeOwn = (tries = 50) => {
    const app = find("[data-testid=stApp][data-test-script-state=notRunning]");
    const field = find(".st-key-text textarea");
    if (app && !find(OWN) && field instanceof HTMLTextAreaElement) field.select();
    else if (tries) setTimeout(writeOwn, 100, tries - 1);
  };

  const closeDrawer = () => {
    find(`${DRAWER}[data-collapsed=false] [data-testid=stSidebarCollapseButton] button`)?.click();
    find("[data-testid=stMain]")?.focus({ preventScroll: true });
  };

  /** Find the place of the focus after a choice: the sentence that it wrote, else the menu. */
  const placeOfMenu = () => {
    const button = find("[data-testid=stMenuButtonButton][aria-expanded=true]");
    if (button?.closest(".st-key-inputs")) return ".st-key-text textarea";
    const place = button?.closest("[class*='st-key-']");
    const key = [...(place?.classList ?? [])].find((name) => name.startsWith("st-key-"));
    return key && `.${key} button`;
  };

  /** @param {string} place */
  const focusOnceClosed = (place) => {
    if (find(CHOICES)) requestAnimationFrame(() => focusOnceClosed(place));
    else find(place)?.focus();
  };

  addEventListener("click", (event) => {
    // Streamlit closes the drawer itself where it knows the device as a phone
    if (within(event, `${DRAWER} a`)) setTimeout(closeDrawer);
    // a link may open the same page, where the popover would stay
    if (within(event, `${POPOVER} a`)) setTimeout(() => find(OPENER)?.click());
    if (within(event, `${OWN} a`)) writeOwn();
    // a finger would open the keyboard of the phone over the answer
    const touched = event instanceof PointerEvent && event.pointerType === "touch";
    const place = within(event, `${CHOICES} [role=menuitem]`) && !touched && placeOfMenu();
    if (place) requestAnimationFrame(() => focusOnceClosed(place));
  }, true);

  // a popover stands at the end of the document: Tab enters it from its button, and leaves it there
  addEventListener("keydown", (event) => {
    const popover = find(POPOVER);
    const opener = find(OPENER);
    if (event.key !== "Tab" || !popover || !opener) return;
    // while the focus is elsewhere Streamlit takes them out of the order, and keeps what they had
    const stops = /** @type {HTMLElement[]} */ ([...popover.querySelectorAll(REACHED)])
      .filter((node) => Number(node.dataset.tabindex ?? node.tabIndex) >= 0
        && !node.matches(":disabled") && node.checkVisibility());
    if (!event.shiftKey && opener.contains(document.activeElement)) {
      stops[0]?.focus();
      event.preventDefault();
    } else if (document.activeElement === stops.at(event.shiftKey ? 0 : -1)) {
      opener.focus();
      // the key goes on from the button, and what was left is closed
      if (event.shiftKey) event.preventDefault();
      else opener.click();
    }
  }, true);
}
