// Part of the page itself: a browser's translator puts a <font> in the place of each text; React
// still writes into the text that nobody sees. It returns first, and the translator reads it again.
{
  /** @type {WeakMap<Node, Node>} */
  const places = new WeakMap();

  new MutationObserver((changes) => {
    for (const { addedNodes, removedNodes: [text], previousSibling, nextSibling } of changes) {
      const place = [...addedNodes, previousSibling, nextSibling]
        .find((node) => node?.nodeName === "FONT");
      if (text instanceof Text && place) places.set(text, place);
    }
  }).observe(document, { childList: true, subtree: true });

  for (const name of ["nodeValue", "appendChild", "insertBefore", "removeChild"]) {
    const part = name === "nodeValue" ? "set" : "value";
    /** @type {any} */
    const own = Object.getOwnPropertyDescriptor(Node.prototype, name);
    Object.defineProperty(Node.prototype, name, {
      ...own,
      /** @this {Node} @param {any[]} given */
      [part](...given) {
        for (const text of [this, ...given]) {
          const place = places.get(text);
          if (place?.parentNode && !text.parentNode) place.parentNode.replaceChild(text, place);
        }
        return own[part].apply(this, given);
      },
    });
  }
}
