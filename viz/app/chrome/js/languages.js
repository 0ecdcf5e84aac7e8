// Part of the page itself: the sentence and its translation are marked with their languages, by
// which a screen reader and the browser's fonts go, and each runs in its own direction; no browser
// translates them, or their words on the page. Streamlit has no attribute for that; the line of the
// translation says what the languages are.
{
  const LINE = "[data-source-language]";
  const PLACES = /** @type {const} */ ({
    sourceLanguage: ".st-key-text textarea",
    targetLanguage: ".st-key-translation",
  });

  const WORDS = ".st-key-translation, h1 span, .st-key-findings-links em, bdi";

  const mark = () => {
    for (const words of document.querySelectorAll(WORDS)) words.setAttribute("translate", "no");
    const line = /** @type {HTMLElement | null} */ (document.querySelector(LINE));
    for (const [name, selector] of Object.entries(PLACES)) {
      const place = /** @type {HTMLElement | null} */ (line && document.querySelector(selector));
      if (!place) continue;
      place.lang = line?.dataset[name] ?? "";
      place.dir = "auto";
    }
  };

  new MutationObserver(mark).observe(document.documentElement, {
    childList: true,
    subtree: true,
    attributeFilter: ["data-source-language", "data-target-language"],
  });
}
