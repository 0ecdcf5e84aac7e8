// The script that Streamlit loads, once for all components; `render` serves any other page.

import * as components from "./components.ts";
import { bringIntoView } from "./core/dom.ts";
import { carry, deleteValue, setValue, withTrace } from "./core/store.ts";
import { readTrace } from "./core/trace.ts";
import { mount, type Options, type View } from "./core/view.ts";
import { decode } from "./core/wire.ts";

export { decode };

interface Component {
  new(): View<any>;
  read(message: any): any;
}

export const COMPONENTS: Record<string, Component> = components;

/** Read a message; one that carries its trace, and does not name it, has that read, too. */
function read(bytes: Uint8Array) {
  const message = decode(bytes);
  const { trace } = message;
  return typeof trace === "object" ? { ...message, trace: readTrace(trace) } : message;
}

/** Show what Python has encoded; call again to show other data in the same place. */
export const render = (element: Element | ShadowRoot, bytes: Uint8Array, options?: Options) =>
  renderMessage(element, read(bytes), options);

export function renderMessage(element: Element | ShadowRoot, message: any, options?: Options) {
  const Component = COMPONENTS[message.component];
  return mount(element, Component, Component.read(message), options);
}

interface Host { // what Streamlit hands to a component
  data: Uint8Array;
  parentElement: ShadowRoot;
  setTriggerValue: (name: string, value: unknown) => void;
}

/** @returns takes the component away again, once it has left the page */
export default function show({ data, parentElement, setTriggerValue }: Host): () => void {
  const message = read(data);
  const { component, key, value, opens, trace } = message;
  let remove: () => unknown = () => deleteValue(key);
  let forget = () => {};
  const draw = (drawn: any) => {
    const onSelect = (picked: unknown) => {
      setTriggerValue("picked", picked);
      if (opens) bringIntoView(`.st-key-${opens}`); // on a phone it stands screens below
    };
    const view = renderMessage(parentElement, drawn, { onSelect });
    remove = () => view.remove();
    parentElement.host.toggleAttribute("data-drawn", true); // for page.css
  };
  // apart from its picture, whose bytes then stay as they were: Streamlit does not send them again
  if (component === "value" || component === "trace") {
    parentElement.host.toggleAttribute("data-drawn", true); // what is drawn from it has its width
    if (component === "value") setValue(key, value);
    else remove = carry({ id: key, trace });
  } else if (typeof trace === "string") {
    forget = withTrace(trace, (carried) => draw({ ...message, trace: carried }));
  } else draw(message);
  // Streamlit ends a call at once where the next data came while the script was loaded for it: what
  // is on the page then belongs to the next call
  return () => {
    forget();
    if (!parentElement.host.isConnected) remove();
  };
}
