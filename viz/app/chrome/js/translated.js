// Part of the page itself: texts stay those of the page where the browser translates it.
//
// A translator puts a <font> in the place of each text. React still writes into the text that it
// took out, which nobody sees: the text returns first, and the translator reads it again.
{
  /** @type {WeakMap<Node, Element>} */
  const places = new WeakMap();

  /** @param {Node | null} text */
  const giveBack = (text) => {
    const place = text && places.get(text);
    if (place?.parentNode && !text?.parentNode) place.replaceWith(/** @type {Text} */ (text));
  };

  new MutationObserver((changes) => {
    for (const { addedNodes, removedNodes, previousSibling, nextSibling } of changes) {
      const [text] = removedNodes;
      const [place] = [...addedNodes, previousSibling, nextSibling].filter(
        (node) => node instanceof HTMLElement && node.localName === "font");
      if (text instanceof Text && place) places.set(text, /** @type {Element} */ (place));
    }
  }).observe(document, { childList: true, subtree: true });

  const { nodeValue } = Object.getOwnPropertyDescriptors(Node.prototype);
  Object.defineProperty(Node.prototype, "nodeValue", {
    ...nodeValue,
    set(value) {
      giveBack(this);
      nodeValue.set?.call(this, value);
    },
  });
  for (const name of /** @type {const} */ (["appendChild", "insertBefore", "removeChild"])) {
    const own = Node.prototype[name];
    Node.prototype[name] = /** @param {Node[]} nodes @returns {any} */ function (...nodes) {
      nodes.forEach(giveBack);
      return Reflect.apply(own, this, nodes);
    };
  }
}
