// The kernel's WebAssembly, put together from its instructions.

// y = x Wᵀ for four rows of x at once, so that each weight is read once for all four. Locals: the
// parameters, then what the two loops count and add up
const [X, W, Y, INPUTS, OUTPUTS, OUTPUT, AT, LENGTH, WIDTH, HALF] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const ROW = [X, 10, 11, 12]; // where each of the four rows begins
const OTHER = 13; // the weights of the output that is computed at the same time
const SUM = [14, 15, 16, 17]; // four partial sums of each row
const SUM_OTHER = [18, 19, 20, 21];
const [WEIGHTS, WEIGHTS_OTHER, NUMBERS] = [22, 23, 24]; // four of them

const get = (local: number) => [0x20, local];
const set = (local: number, ...value: number[]) => [...value, 0x21, local];
const number = (value: number) => [0x41, value]; // below 64
const plus = (a: number[], b: number[]) => [...a, ...b, 0x6a];
const times = (a: number[], b: number[]) => [...a, ...b, 0x6c];
const isLess = (a: number[], b: number[]) => [...a, ...b, 0x49];
const loop = (...body: number[]) => [0x03, 0x40, ...body, 0x0b];
const againIf = (...condition: number[]) => [...condition, 0x0d, 0];

const load = (place: number[]) => [...place, 0xfd, 0x00, 2, 0];
// a bfloat16 is the upper half of a float32
const loadHalves = (place: number[]) => [...place, 0xfd, 0x04, 1, 0, ...number(16), 0xfd, 0xab, 1];
const zeros = [0xfd, 0x0c, ...new Array(16).fill(0)];
const lane = (vector: number, n: number) => [...get(vector), 0xfd, 0x1f, n];
const addVectors = (a: number[], b: number[]) => [...a, ...b, 0xfd, 0xe4, 1];
const multiplyVectors = (a: number[], b: number[]) => [...a, ...b, 0xfd, 0xe6, 1];
const addNumbers = (a: number[], b: number[]) => [...a, ...b, 0x92];
const total = (sum: number) =>
  addNumbers(addNumbers(lane(sum, 0), lane(sum, 1)), addNumbers(lane(sum, 2), lane(sum, 3)));
const store = (place: number[], value: number[]) => [...place, ...value, 0x38, 2, 0];

const halfOf = (count: number[]) => [...count, ...number(1), 0x76];
type AddProduct = (sum: number, weights: number) => number[];
const addProduct: AddProduct = (sum, weights) =>
  set(sum, ...addVectors(get(sum), multiplyVectors(get(weights), get(NUMBERS))));
const addProductAtOnce: AddProduct = (sum, weights) => // as one instruction
  set(sum, ...get(weights), ...get(NUMBERS), ...get(sum), 0xfd, 0x85, 2);

// The outputs n and n + ⌊outputs / 2⌋ are computed at once; of an odd number one is computed twice.
const multiplyBy = (add: AddProduct, loadWeights: typeof load, bytesOf: typeof halfOf) => [
  ...set(LENGTH, ...times(get(INPUTS), number(4))),
  ...set(WIDTH, ...times(get(OUTPUTS), number(4))),
  ...set(HALF, ...halfOf(get(OUTPUTS))),
  ...set(OTHER, ...plus(get(W), times(get(HALF), bytesOf(get(LENGTH))))),
  ...set(OUTPUTS, ...plus(get(OUTPUTS), [...number(0), ...get(HALF), 0x6b])),
  ...set(HALF, ...times(get(HALF), number(4))),
  ...[1, 2, 3].flatMap((n) => set(ROW[n], ...plus(get(ROW[n - 1]), get(LENGTH)))),
  ...loop(
    ...[...SUM, ...SUM_OTHER].flatMap((sum) => set(sum, ...zeros)),
    ...set(AT, ...number(0)),
    ...loop(
      ...set(WEIGHTS, ...loadWeights(plus(get(W), bytesOf(get(AT))))),
      ...set(WEIGHTS_OTHER, ...loadWeights(plus(get(OTHER), bytesOf(get(AT))))),
      ...ROW.flatMap((row, n) => [
        ...set(NUMBERS, ...load(plus(get(row), get(AT)))),
        ...add(SUM[n], WEIGHTS), ...add(SUM_OTHER[n], WEIGHTS_OTHER),
      ]),
      ...set(AT, ...plus(get(AT), number(16))),
      ...againIf(...isLess(get(AT), get(LENGTH))),
    ),
    ...[0, 1, 2, 3].flatMap((n) => {
      const place = plus(get(Y), times(get(WIDTH), number(n)));
      return [...store(place, total(SUM[n])),
        ...store(plus(place, get(HALF)), total(SUM_OTHER[n]))];
    }),
    ...set(W, ...plus(get(W), bytesOf(get(LENGTH)))),
    ...set(OTHER, ...plus(get(OTHER), bytesOf(get(LENGTH)))),
    ...set(Y, ...plus(get(Y), number(4))),
    ...set(OUTPUT, ...plus(get(OUTPUT), number(1))),
    ...againIf(...isLess(get(OUTPUT), get(OUTPUTS))),
  ),
  0x0b,
];

// All heads of one row: q · k of the rows of a table, or their sum by weights. Locals: the
// parameters, then what the three loops count and add up
const [OF, TABLE, TO, SLOTS, COUNT, STRIDE, WIDE, HEADS, KEY, PART, SUM_PART] = [
  0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

const tableRow = plus(get(TABLE),
  times([...plus(get(SLOTS), get(KEY)), 0x28, 2, 0], get(STRIDE)));
const splat = (place: number[]) => [...place, 0x2a, 2, 0, 0xfd, 0x13];
const step = (local: number, ...by: number[]) => set(local, ...plus(get(local), by));
const eachKey = (...body: number[]) => [...set(KEY, ...number(0)),
  ...loop(...body, ...step(KEY, ...number(4)), ...againIf(...isLess(get(KEY), get(COUNT))))];
const eachPart = (...body: number[]) => [...set(PART, ...number(0)),
  ...loop(...body, ...step(PART, ...number(16)), ...againIf(...isLess(get(PART), get(WIDE))))];
const addPart = (a: number[], b: number[]) =>
  set(SUM_PART, ...addVectors(get(SUM_PART), multiplyVectors(a, b)));
const eachHead = (ofWidth: number, ofCount: number, ...body: number[]) => [
  ...set(COUNT, ...times(get(COUNT), number(4))),
  ...loop(...body, ...step(ofWidth, ...get(WIDE)), ...step(TABLE, ...get(WIDE)),
    ...step(ofCount, ...get(COUNT)), ...step(HEADS, 0x41, 0x7f), ...againIf(...get(HEADS))),
  0x0b,
];

const SCORES = eachHead(OF, TO, ...eachKey(
  ...set(SUM_PART, ...zeros),
  ...eachPart(...addPart(load(plus(get(OF), get(PART))), load(plus(tableRow, get(PART))))),
  ...store(plus(get(TO), get(KEY)), total(SUM_PART)),
));
const MIX = eachHead(TO, OF, ...eachPart(
  ...set(SUM_PART, ...zeros),
  ...eachKey(...addPart(splat(plus(get(OF), get(KEY))), load(plus(tableRow, get(PART))))),
  ...plus(get(TO), get(PART)), ...get(SUM_PART), 0xfd, 0x0b, 2, 0,
));

const [I32, V128, FUNCTION] = [0x7f, 0x7b, 0x60];

const length = (count: number) => (count < 128 ? [count] : [(count & 127) | 128, count >> 7]);
const sized = (bytes: number[]) => [...length(bytes.length), ...bytes];
const name = (text: string) => sized([...text].map((letter) => letter.charCodeAt(0)));
const section = (id: number, ...bytes: number[]) => [id, ...sized(bytes)];

/** @param isRelaxed whether a product may be added without rounding it before, which is faster, and
 *   which not every browser can
 * @returns a module with `memory`, `multiply` and, of weights in bfloat16, `multiplyHalves` of
 *   `(x, w, y, inputs, outputs)`, and `scores` and `mix` of
 *   `(of, table, to, slots, count, stride, width, heads)`: places, stride and width in bytes, and
 *   `inputs` and a head's width multiples of four numbers */
export function kernelModule(isRelaxed: boolean): Uint8Array<ArrayBuffer> {
  const add = isRelaxed ? addProductAtOnce : addProduct;
  const multiply = [
    multiplyBy(add, load, (count) => count), multiplyBy(add, loadHalves, halfOf),
  ];
  return new Uint8Array([
    0, ...[..."asm"].map((letter) => letter.charCodeAt(0)), 1, 0, 0, 0,
    ...section(1, 2, ...[5, 8].flatMap((count) =>
      [FUNCTION, count, ...new Array<number>(count).fill(I32), 0])),
    ...section(3, 4, 0, 0, 1, 1),
    ...section(5, 1, 0, 1),
    ...section(7, 5, ...name("memory"), 2, 0,
      ...["multiply", "multiplyHalves", "scores", "mix"].flatMap((text, n) =>
        [...name(text), 0, n])),
    ...section(10, 4, ...multiply.flatMap((body) => sized([2, 9, I32, 11, V128, ...body])),
      ...[SCORES, MIX].flatMap((body) => sized([2, 2, I32, 1, V128, ...body]))),
  ]);
}
