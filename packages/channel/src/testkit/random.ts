/** Creates a deterministic generator of numbers from 0 to 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const PIECES = [..."abcXYZ019:/_-%.#? \n\t\u0000{}[]\"'<>@", "%2F", "%zz", "你", "😀", "\ud83d", "..", "//"];

/** Creates a text of up to `max` pieces that parsers often handle incorrectly. */
export function createRandomText(random: () => number, max: number): string {
  const length = Math.floor(random() * (max + 1));
  return Array.from({ length }, () => PIECES[Math.floor(random() * PIECES.length)]).join("");
}
