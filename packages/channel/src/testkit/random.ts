/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const alphabet = [
  ..."abcXYZ019:/_-%.#? \n\t\u0000{}[]\"'<>@",
  "%2F",
  "%zz",
  "你",
  "😀",
  "\ud83d",
  "..",
  "//",
];

/** Up to `most` pieces of text that likes to break parsers. */
export function randomText(random: () => number, most: number): string {
  const length = Math.floor(random() * (most + 1));
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
}
