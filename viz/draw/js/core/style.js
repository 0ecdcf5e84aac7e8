// The style sheet of all components, which build.mjs puts into the script.

const sheet = () => {
  const made = new CSSStyleSheet();
  made.replaceSync(HEADLIGHT_STYLE);
  return made;
};

/** @type {CSSStyleSheet | undefined} */
let style; // one for all components: the browser reads it once

/** The rules are all under `.hl`. @param {Element | ShadowRoot} element */
export function adoptStyle(element) {
  const root = /** @type {Document | ShadowRoot} */ (element.getRootNode());
  style ??= sheet();
  if (!root.adoptedStyleSheets.includes(style)) root.adoptedStyleSheets.push(style);
}
