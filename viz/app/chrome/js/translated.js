// Part of the page itself: texts stay those of the page where the browser translates it.
//
// A translator puts a <font> in the place of each text. React still writes into the text that it
// took out, which nobody sees: the text returns first, and the translator reads it again.
{
  /** @type {WeakMap<Node, Node>} */
  const places = new WeakMap();

  /** @param {any} text */
  const giveBack = (text) => {
    const place = places.get(text);
    if (place?.parentNode && !text.parentNode) place.parentNode.replaceChild(text, place);
  };

  new MutationObserver((changes) => {
    for (const { addedNodes, removedNodes: [text], previousSibling, nextSibling } of changes) {
      const place = [...addedNodes, previousSibling, nextSibling]
        .find((node) => node?.nodeName === "FONT");
      if (text instanceof Text && place) places.set(text, place);
    }
  }).observe(document, { childList: true, subtree: true });

  const { nodeValue } = Object.getOwnPropertyDescriptors(Node.prototype);
  /** @this {Node} @param {string | null} value */
  const write = function (value) {
    giveBack(this);
    nodeValue.set?.call(this, value);
  };
  Object.defineProperty(Node.prototype, "nodeValue", { ...nodeValue, set: write });
  for (const name of /** @type {const} */ (["appendChild", "insertBefore", "removeChild"])) {
    const own = Node.prototype[name];
    Node.prototype[name] = /** @param {Node[]} nodes @returns {any} */ function (...nodes) {
      nodes.forEach(giveBack);
      return Reflect.apply(own, this, nodes);
    };
  }
}
