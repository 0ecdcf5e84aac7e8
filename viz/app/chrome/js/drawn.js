// Part of the page itself: it marks each picture that is still to be drawn, and each place that is
// still to be filled, for `page.css`, which keeps what stands below until then. A chart that never
// comes, as after an error, keeps nothing for long.
{
  const CHARTS = "[data-testid=stVegaLiteChart], [data-testid=stPlotlyChart]";
  const OTHERS = "[data-testid=stBidiComponentIsolated], "
    + "[data-testid=stSkeleton]:not(.st-key-sentence-bar *)";
  const UNDRAWN = `:is(${CHARTS}, ${OTHERS}):not([data-drawn])`;
  const PATIENCE = 5_000; // ms

  /** @param {Element} element */
  const show = (element) => {
    element.toggleAttribute("data-drawn", true);
    element.toggleAttribute("data-waits", false);
  };
  const mark = () => {
    for (const element of document.querySelectorAll(UNDRAWN)) {
      const isChart = element.matches(CHARTS);
      if (isChart && element.querySelector("canvas, svg")) show(element);
      else if (!element.hasAttribute("data-waits")) {
        element.toggleAttribute("data-waits", true);
        if (isChart) setTimeout(show, PATIENCE, element);
      }
    }
    document.querySelectorAll("[data-drawn][data-waits]").forEach(show); // components say it
  };

  new MutationObserver(mark).observe(document.documentElement, {
    childList: true, subtree: true, attributeFilter: ["data-drawn"],
  });
}
