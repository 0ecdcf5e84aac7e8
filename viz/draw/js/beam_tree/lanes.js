// Which row every prefix is written in, and where a line goes from one row to another. Rows are
// taken again when a prefix has ended, so there are no more of them than prefixes at one step.

/** @typedef {import("./data.js").TreeData} TreeData */
/** @typedef {import("./data.js").Course} Course */

const FREE = 1; // steps that a row stays empty between two prefixes
// what a row costs a prefix: each line that it would cross, how far away the row is, and for each
// of its own steps that others will cross it on their way to a row further down
const COST = { crossing: 3, far: 1, ahead: 0.9 };

/**
 * @typedef {object} Run nodes that stand in one row, one after the other
 * @property {number[]} nodes
 * @property {number} first step
 * @property {number} last step
 * @property {number} parent node that it parts from; -1 at the start
 * @property {number} row
 *
 * @typedef {object} Lanes
 * @property {Run[]} runs the translation first, parents before what parts from them
 * @property {number} rows how many
 * @property {Map<number, number>} slots of the lines between rows by the node they part from: lines
 *   of one step and one slot never share a row; 0 is next to the step that they lead to
 * @property {number[]} widest how many slots there are before each step
 */

/**
 * @param {TreeData} data
 * @param {Course} course
 * @returns {Lanes}
 */
export function lanesOf(data, course) {
  const runs = runsOf(data, course);
  const busy = runsByStep(runs.slice(1));
  const rows = 1 + Math.max(0, ...busy);
  /** @type {number[]} */
  const rowOf = []; // by node
  /** @type {(Run | undefined)[]} */
  const taken = Array(rows); // the last run in each row
  for (const run of runs) {
    run.row = run === runs[0] ? 0 : cheapest(run, rowOf[run.parent] ?? 0, taken, busy);
    taken[run.row] = run;
    for (const n of run.nodes) rowOf[n] = run.row;
  }
  return { runs, rows, ...slotsOf(runs, rowOf) };
}

/** @param {TreeData} data @param {Course} course @returns {Run[]} */
function runsOf({ nodes }, { visible, top, next }) {
  /** @type {Run[]} */
  const runs = [];
  nodes.forEach(({ parent, step }, first) => {
    const goesOn = parent < 0 ? false : next[parent] === first;
    if (!visible[first] || goesOn) return;
    const row = [first];
    for (let n = next[first]; n >= 0; n = next[n]) row.push(n);
    runs.push({ nodes: row, first: step, last: step + row.length - 1, parent, row: 0 });
  });
  /** @param {Run} run */
  const isTop = (run) => Number(top[run.nodes[0]]);
  return runs.sort((a, b) => isTop(b) - isTop(a) || a.first - b.first || b.last - a.last);
}

/** How many runs want a row at each step. @param {Run[]} runs */
function runsByStep(runs) {
  const end = Math.max(0, ...runs.map(({ last }) => last)) + FREE + 1;
  const counts = Array(end + 1).fill(0);
  for (const { first, last } of runs) {
    counts[first]++;
    counts[last + FREE + 1]--;
  }
  for (let step = 1; step <= end; step++) counts[step] += counts[step - 1];
  return counts;
}

/**
 * The row for a run among those that are free; there always is one, for the runs come in the order
 * of their first steps.
 * @param {Run} run
 * @param {number} from row of its parent
 * @param {(Run | undefined)[]} taken
 * @param {number[]} busy how many runs there are at each step
 */
function cheapest(run, from, taken, busy) {
  const { first, last, parent } = run;
  const length = last - first + 1;
  const depth = busy.slice(first, last + 1).reduce((sum, count) => sum + count, 0) / length;
  let [best, least] = [0, Infinity];
  for (let row = 1; row < taken.length; row++) {
    if ((taken[row]?.last ?? -Infinity) + FREE >= first) continue;
    let crossings = 0;
    for (let n = Math.min(row, from) + 1; n < Math.max(row, from); n++) {
      const other = taken[n];
      if (other && other.last >= first && !(other.first === first && other.parent === parent)) {
        crossings++;
      }
    }
    const cost = COST.crossing * crossings + COST.far * Math.abs(row - from)
      + COST.ahead * (length - 1) * Math.max(0, 1 - row / depth);
    if (cost < least) [best, least] = [row, cost];
  }
  return best;
}

/**
 * Lines of one parent are one line that forks; those of two parents that pass the same row stand
 * side by side.
 * @param {Run[]} runs
 * @param {number[]} rowOf
 */
function slotsOf(runs, rowOf) {
  /** @type {Map<number, {step: number, top: number, bottom: number}>} */
  const lines = new Map();
  for (const { parent, first, row } of runs) {
    const line = lines.get(parent) ?? {
      step: first, top: rowOf[parent] ?? 0, bottom: rowOf[parent] ?? 0,
    };
    line.top = Math.min(line.top, row);
    line.bottom = Math.max(line.bottom, row);
    lines.set(parent, line);
  }
  /** @type {Map<number, number>} */
  const slots = new Map();
  /** @type {number[]} */
  const widest = [];
  /** @type {Map<string, {top: number, bottom: number}[]>} */
  const placed = new Map();
  for (const [parent, line] of lines) {
    /** @param {number} n */
    const others = (n) => placed.get(`${line.step} ${n}`) ?? [];
    let slot = 0;
    while (others(slot).some((one) => one.top <= line.bottom && line.top <= one.bottom)) slot++;
    placed.set(`${line.step} ${slot}`, [...others(slot), line]);
    slots.set(parent, slot);
    widest[line.step] = Math.max(widest[line.step] ?? 0, slot + 1);
  }
  return { slots, widest };
}
