// Part of the page itself: a chart says when it is drawn, for `page.css`, which keeps what stands
// below it until then. One that never comes, as after an error, keeps nothing for long.
{
  const CHARTS = "[data-testid=stVegaLiteChart], [data-testid=stPlotlyChart]";
  const PATIENCE = 5_000; // ms
  /** @type {WeakSet<Element>} */
  const seen = new WeakSet();

  const mark = () => {
    for (const chart of document.querySelectorAll(`:is(${CHARTS}):not([data-drawn])`)) {
      const isDrawn = chart.querySelector("canvas, svg") !== null;
      if (isDrawn) chart.toggleAttribute("data-drawn", true);
      else if (!seen.has(chart)) {
        seen.add(chart);
        setTimeout(() => chart.toggleAttribute("data-drawn", true), PATIENCE);
      }
    }
  };

  new MutationObserver(mark).observe(document.documentElement, { childList: true, subtree: true });
}
