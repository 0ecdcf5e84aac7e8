// What the summary says of itself: of heads, or of layers under a lens that tells no heads apart.

/** @param {Pick<import("./data.js").LinesData, "together" | "amount">} data */
export function wordsOf({ together, amount }) {
  const one = together ? "layer" : "head";
  const many = together ? "Layers" : "Heads";
  return {
    one,
    title: `Each ${one} over all sentences`,
    note: `Each strip is one ${one}: the mean ${amount} at each position relative to the one that `
      + "looks; … is all beyond. Beside it its role, and the measure: its mean, one standard "
      + "deviation between sentences, and from the lowest sentence to the highest.",
    help: `Up and down move over the ${one}s, left and right over the positions, Enter opens a `
      + `${one} in the sentence below.`,
    unlike: `${many} most unlike the others of their kind`,
    changes: `${many} that change most between sentences`,
    sentences: `Sentences in which ${one}s differ most from each other`,
    columns: ["Kind", together ? "Layer" : "Head", "Role", `Most ${amount}`],
  };
}
