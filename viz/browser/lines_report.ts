// The script of a saved page of many sentences. It runs before the page is read to its end; each
// sentence stays packed as text until it is chosen.

import { make } from "./core/dom.ts";
import { mount } from "./core/view.ts";
import { decode, textOf, unzip } from "./core/wire.ts";
import { Explorer } from "./explorer.ts";
import { headTable, type Sentence, SentenceList, sentenceOf } from "./lines.ts";
import type { Head } from "./head_grid/plan.ts";

const byId = (id: string) => document.getElementById(id) as HTMLElement;

const unpacked = async (id: string) => decode(await unzip(await textOf(id)));

byId("unscripted").remove();
const heads = byId("heads");
const problem = make("p", { role: "alert", hidden: "" });
heads.before(problem);

const message = await unpacked("lines-packed").catch((error) => {
  fail("The list of sentences");
  throw error;
});

const sentences: Sentence[] = message.sentences.map(sentenceOf);
let open: Head | null = null; // what was opened last stays open from sentence to sentence
let shown = 0; // number of the sentence

const markHead = headTable(byId("summary"), (head) => {
  open = head;
  show(shown, true);
  byId("sentence").scrollIntoView({ block: "nearest" });
});
markHead(message.selected);
const list = new SentenceList(byId("list"), sentences, (number) =>
  location.replace(`#${number}`)); // walking over the list fills no history
addEventListener("hashchange", () => show(asked()));
show(asked());

function asked() {
  const number = Number(location.hash.slice(1));
  const exists = sentences.some((known) => known.number === number);
  return exists ? number : sentences[0].number;
}

async function show(number: number, again = false) {
  if (number === shown && !again) return;
  shown = number;
  list.mark(number);
  const id = `line-${number}`;
  const data = await unpacked(id)
    .then((packed) => Explorer.read(packed, (head) => textOf(`${id}.${head}`))).catch(() => null);
  if (number !== shown) return; // another one was chosen meanwhile
  if (!data) {
    fail(`Sentence #${number}`);
    return;
  }
  problem.hidden = true;
  heads.hidden = false;
  if (open) {
    data.over = open[0] === data.selected[0] ? data.over : [];
    data.selected = open;
  }
  const { source, target, sides } = sentences.find((known) => known.number === number) as Sentence;
  byId("sentence").replaceChildren(...sides.flatMap(([name, lang], side) => {
    const text = [source, target][side];
    return text ? [make("dt", {}, name), make("dd", { dir: "auto", lang }, text)] : [];
  }));
  mount(heads, Explorer, data, {
    onSelect: (head) => {
      open = head;
      markHead(head);
    },
  });
}

/** Report a part that cannot be read, and show nothing that the list does not mark. */
function fail(part: string) {
  problem.textContent = `${part} cannot be read: the page is cut or damaged, so make it again.`;
  problem.hidden = false;
  heads.hidden = true;
  byId("sentence").replaceChildren();
}
