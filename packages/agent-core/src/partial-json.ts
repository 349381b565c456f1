import { type JsonValue, MAX_JSON_DEPTH } from "./json.ts";

/**
 * Parses JSON text that is still arriving. Closes open strings, arrays and objects, and omits incomplete keys, numbers
 * and literals. Returns `undefined` if there is no value yet, the text is not JSON, or it is nested more than 64 levels
 * deep. Runs in linear time.
 */
export function parsePartialJson(text: string): JsonValue | undefined {
  const open: ("}" | "]")[] = [];
  let inString = false;
  /** Start of an incomplete escape sequence at the end of the text. */
  let halfEscape = text.length;
  /**
   * End of the longest prefix that becomes valid JSON when its open brackets are closed. The open brackets have not
   * changed since then.
   */
  let safe = 0;
  /** True if the current string is a key, which is useless without its value. */
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
      // A number or literal is complete once something follows it.
      safe = i;
      expectKey = open.at(-1) === "}";
    }
  }
  const closing = open.toReversed().join("");
  // Include the arrived part of an open string, without an incomplete escape sequence.
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
