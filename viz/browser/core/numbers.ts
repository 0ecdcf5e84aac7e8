// Numbers as people write them, in English and German, as viz/lessons/numbers.py reads them.
//
// tests/viz/lessons/numbers.json has examples, which both must read.

const NUMBER = new RegExp(
  "^[≈=~]? *([-−–+]?) *([0-9.,'’ ]*[0-9][.,]?)(?:(?:e| *[·×x*] *10\\^)([-−–+]?[0-9]+))?"
  + " *(%|per ?cent|prozent)?$", "i",
);
const FRACTION = /^[≈=~]? *([-−–+]?) *(?:([0-9]+) +)?([0-9]+) *[/⁄] *([0-9]*[1-9][0-9]*)$/;
const PLAIN = /^(?:[0-9]+[.,]?|[0-9]*[.,][0-9]+)$/;
const GROUPED = /^[1-9][0-9]{0,2}([.,'’ ])[0-9]{3}(?:\1[0-9]{3})*(?:(?!\1)[.,][0-9]+)?$/;
const VULGAR = /([0-9]) *([¼-¾⅐-⅞])/g; // 1½ is 1 1/2, not 11/2

const signed = (sign: string, number: number) => (sign && sign !== "+" ? -number : number);

/** Get what a text can mean as a number: 8,000 is 8000 or 8; nothing if it is none. */
export function readNumbers(text: string): number[] {
  const plain = text.replace(VULGAR, "$1 $2").normalize("NFKC").replace(/^ +| +$/g, "");
  const fraction = FRACTION.exec(plain);
  if (fraction) {
    const [, sign, whole, above, below] = fraction;
    return [signed(sign, Number(whole ?? 0) + Number(above) / Number(below))];
  }
  const [, sign, digits, power, share] = NUMBER.exec(plain) ?? [];
  if (digits === undefined) return [];
  const grouped = GROUPED.exec(digits);
  const readings = grouped ? [digits.replaceAll(grouped[1], "")] : [];
  if (PLAIN.test(digits)) readings.push(digits);
  const scale = power ? `e${power.replace(/[−–]/, "-")}` : "";
  return readings.map((reading) =>
    signed(sign, Number(reading.replace(",", ".") + scale) / (share ? 100 : 1)));
}
