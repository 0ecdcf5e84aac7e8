// What was pressed last stays where it is in the window while the page above it grows or shrinks: a
// map that moved away would be painted elsewhere. Browsers that do so of themselves choose what
// they keep in place, and not every browser does.

const LARGEST = 0.4; // of the window: what is larger does not stay in sight above the rest

/** @param sticky what stays in sight above the rest @param parts whose heights change */
export function hold(sticky: HTMLElement, parts: Iterable<Element>) {
  const main = sticky.parentElement as HTMLElement;
  let held: Element | null = null;
  let place = 0; // in the page
  let above = ""; // the room of what stays in sight
  const placeOf = (element: Element) => element.getBoundingClientRect().top + window.scrollY;
  const keep = (element: Element | null) => {
    held = element;
    main.style.overflowAnchor = held ? "none" : "";
    if (held) place = placeOf(held);
  };
  addEventListener("pointerdown", ({ target }) => {
    const isOurs = target instanceof Element && main.contains(target) && !sticky.contains(target);
    keep(isOurs ? target : null);
  }, true);
  // a reader who scrolls looks at something else
  for (const name of ["wheel", "keydown", "pointercancel"]) {
    addEventListener(name, () => keep(null), { capture: true, passive: true });
  }
  const observer = new ResizeObserver(() => {
    const { classList, offsetHeight } = sticky;
    const isLong = offsetHeight > LARGEST * window.innerHeight;
    classList.toggle("long", isLong);
    const height = `${isLong ? 0 : offsetHeight}px`;
    if (height !== above) main.style.setProperty("--above", above = height);
    if (!held?.isConnected) return;
    const moved = placeOf(held) - place;
    place += moved;
    if (moved) window.scrollBy({ top: moved, behavior: "instant" });
  });
  for (const part of parts) observer.observe(part);
}
