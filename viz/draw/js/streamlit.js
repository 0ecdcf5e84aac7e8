// The script that Streamlit loads, once for all components; `render` serves any other page.

import { render, renderMessage, sends } from "./components.js";
import { bringIntoView } from "./core/dom.js";
import { deleteValue, setValue } from "./core/store.js";
import { decode } from "./core/wire.js";

export { decode, render, renderMessage };

/**
 * @typedef {object} Host what Streamlit hands to a component
 * @property {Uint8Array} data
 * @property {ShadowRoot} parentElement
 * @property {(name: string, value: unknown) => void} setTriggerValue
 */

/**
 * @param {Host} host
 * @returns {() => void} takes the component away again, once it has left the page
 */
export default function show({ data, parentElement, setTriggerValue }) {
  const message = decode(data);
  const remove = message.meta.component === "selection"
    ? select(message.meta)
    : draw(parentElement, message, setTriggerValue);
  // Streamlit ends a call at once where the next data came while the script was loaded for it: what
  // is on the page then belongs to the next call
  return () => {
    if (!parentElement.host.isConnected) remove();
  };
}

/**
 * @param {ShadowRoot} parentElement
 * @param {import("./core/wire.js").Message} message
 * @param {Host["setTriggerValue"]} setTriggerValue
 */
function draw(parentElement, message, setTriggerValue) {
  const { opens } = message.meta;
  const onSelect = (/** @type {unknown} */ value) => {
    setTriggerValue("picked", value);
    if (opens) bringIntoView(`.st-key-${opens}`); // on a phone it stands screens below
  };
  const view = renderMessage(parentElement, message, sends(message) ? { onSelect } : {});
  return () => view.remove();
}

/**
 * Python says the selected head apart from the grid, whose bytes then stay as they were, and
 * Streamlit does not send again what has not changed.
 * @param {{key: string, head: import("./head_grid/data.js").Head}} selection
 */
function select({ key, head }) {
  setValue(key, head);
  return () => deleteValue(key);
}
