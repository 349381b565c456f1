/** Maximum number of comparisons for a native search, which take about 20 ms. */
const MAX_NATIVE_STEPS = 20_000_000;

/**
 * Searches like `indexOf`, but always in linear time. V8 compares a long search string again at almost every position
 * if both strings consist of few different characters, which can take minutes.
 */
export function indexOfLinear(text: string, wanted: string, from: number = 0): number {
  if (wanted.length * (text.length - from) <= MAX_NATIVE_STEPS) return text.indexOf(wanted, from);
  const borders = getBorders(wanted);
  let matched = 0;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    while (matched > 0 && wanted.charCodeAt(matched) !== code) matched = borders[matched - 1] ?? 0;
    if (wanted.charCodeAt(matched) === code) matched += 1;
    if (matched === wanted.length) return at - matched + 1;
  }
  return -1;
}

/** The last search string. It is often searched for again after a match. */
let last: { readonly wanted: string; readonly borders: Int32Array } | undefined;

/** Returns, for each prefix, the length of the longest proper prefix that is also its suffix (Knuth-Morris-Pratt). */
function getBorders(wanted: string): Int32Array {
  if (last?.wanted === wanted) return last.borders;
  const borders = new Int32Array(wanted.length);
  let length = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    while (length > 0 && wanted.charCodeAt(at) !== wanted.charCodeAt(length))
      length = borders[length - 1] ?? 0;
    if (wanted.charCodeAt(at) === wanted.charCodeAt(length)) length += 1;
    borders[at] = length;
  }
  last = { wanted, borders };
  return borders;
}
