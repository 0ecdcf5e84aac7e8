// The head that the grid outlines, which Python says apart from the grid: then a choice leaves the
// grid's bytes as they were, and Streamlit does not send again what has not changed.

const SAID = Symbol.for("headlight selection"); // on the document, for a grid that comes up later

/** The head that was said last, null before the first. */
export const selected = () => document[SAID]?.head ?? null;

/** Call `act` with each head that is said from now on; gives what ends this. */
export function onSelected(act) {
  const said = (document[SAID] ??= new EventTarget());
  const listener = () => act(said.head);
  said.addEventListener("said", listener);
  return () => said.removeEventListener("said", listener);
}

export default function streamlit({ data }) {
  const said = (document[SAID] ??= new EventTarget());
  said.head = data;
  said.dispatchEvent(new Event("said"));
}
