// The engine in its own thread: the page stays alive while it computes.

import type { Answer, Request } from "./messages.ts";
import { Session } from "./session.ts";

const scope = self as unknown as {
  onmessage: (event: MessageEvent<Request>) => void;
  postMessage: (answer: Answer, transfer: Transferable[]) => void;
};
const session = new Session((answer, transfer) => scope.postMessage(answer, transfer));
scope.onmessage = ({ data }) => session.receive(data);
