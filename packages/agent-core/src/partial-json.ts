import { type JsonValue, MAX_JSON_DEPTH } from "./json.ts";

/**
 * The value a JSON text has so far, while it is still arriving: open strings, arrays and objects end where the text
 * does; a key, number or word that is not complete is left out. `undefined` when there is no value yet, the text is not
 * JSON, or has more than 64 arrays and objects inside one another. Takes time in proportion to the text.
 */
export function parsePartialJson(text: string): JsonValue | undefined {
  const open: ("}" | "]")[] = [];
  let inString = false;
  /** Where the escape begins that the text ends in. */
  let halfEscape = text.length;
  /** The longest start after which closing what is open gives JSON. What is open has been the same since. */
  let safe = 0;
  /** Whether a string being read is a key, which means nothing without its value. */
  let key = false;
  let expectKey = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === "\\") {
        if (i + (text[i + 1] === "u" ? 6 : 2) > text.length) halfEscape = Math.min(halfEscape, i);
        i++;
      } else if (char === '"') {
        inString = false;
        if (!key) safe = i + 1;
      }
      continue;
    }
    if (char === '"') {
      inString = true;
      key = expectKey;
      expectKey = false;
    } else if (char === "{" || char === "[") {
      if (open.push(char === "{" ? "}" : "]") > MAX_JSON_DEPTH) return undefined;
      expectKey = char === "{";
      safe = i + 1;
    } else if (char === "}" || char === "]") {
      open.pop();
      expectKey = false;
      safe = i + 1;
    } else if (char === ",") {
      // A number or a word is complete once something follows it.
      safe = i;
      expectKey = open.at(-1) === "}";
    }
  }
  const closing = open.toReversed().join("");
  // An open string is shown as far as it has come, without half an escape.
  const partial = inString && !key ? parse(`${text.slice(0, halfEscape)}"${closing}`) : undefined;
  return partial ?? parse(text) ?? parse(text.slice(0, safe) + closing);
}

function parse(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
