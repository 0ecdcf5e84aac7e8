// Message of `encode_bars` in viz/draw/alternatives.py: for each step the piece that was written and
// the most probable others, with their probabilities.

/** A piece at a step. @typedef {{raw: string, label: string, p: number}} Option */
/** One of them: the step and its row, 0 for the piece that was written.
 * @typedef {{step: number, row: number}} BarAt */

/**
 * @typedef {object} StepsData
 * @property {string[]} [caption] what it was made from, for a file that is saved
 * @property {string} title
 * @property {string} note
 * @property {Option[][]} steps the written piece first
 */

/**
 * @param {import("../core/wire.js").Message} message
 * @returns {StepsData}
 */
export function read({ meta: { labels, pieces, ...meta }, arrays: { counts, probabilities } }) {
  let from = 0;
  const steps = Array.from(counts, (count) => {
    const first = from;
    from += count;
    return Array.from({ length: count }, (_, n) => ({
      raw: pieces[first + n], label: labels[first + n], p: probabilities[first + n],
    }));
  });
  return { ...meta, steps };
}

/**
 * Write the message of a choice; the prefix identifies its steps.
 * @param {StepsData} data
 * @param {BarAt} at not the written piece
 */
export const choiceOf = ({ steps }, { step, row }) => ({
  step, alternative: row - 1,
  prefix: [...steps.slice(0, step).map(([written]) => written), steps[step][row]]
    .map(({ raw }) => raw).join(""),
});
