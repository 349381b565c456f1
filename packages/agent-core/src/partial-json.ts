import type { JsonValue } from "./json.ts";

/**
 * The value a JSON text has so far, while it is still arriving: open strings, arrays and objects end where the text
 * does; a key, number or word that is not complete is left out. `undefined` when there is no value yet, or the text is not JSON.
 */
export function parsePartialJson(text: string): JsonValue | undefined {
  const open: ("}" | "]")[] = [];
  let inString = false;
  /** The longest start after which closing what is open gives JSON, and what that takes. */
  let safe = 0;
  let closing = "";
  /** Whether a string being read is a key, which means nothing without its value. */
  let key = false;
  let expectKey = false;
  const mark = (end: number): void => {
    safe = end;
    closing = open.toReversed().join("");
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === "\\") i++;
      else if (char === '"') {
        inString = false;
        if (!key) mark(i + 1);
      }
      continue;
    }
    switch (char) {
      case '"':
        inString = true;
        key = expectKey;
        expectKey = false;
        break;
      case "{":
      case "[":
        open.push(char === "{" ? "}" : "]");
        expectKey = char === "{";
        mark(i + 1);
        break;
      case "}":
      case "]":
        open.pop();
        expectKey = false;
        mark(i + 1);
        break;
      case ",":
        // A number or a word is complete once something follows it.
        mark(i);
        expectKey = open.at(-1) === "}";
        break;
      default:
        break;
    }
  }
  // An open string is shown as far as it has come, without half an escape.
  const partial =
    inString && !key ? parse(`${text.replace(HALF_ESCAPE, "")}"${open.toReversed().join("")}`) : undefined;
  return partial ?? parse(text) ?? parse(text.slice(0, safe) + closing);
}

const HALF_ESCAPE = /(?<=(?:^|[^\\])(?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?$/;

function parse(text: string): JsonValue | undefined {
  try {
    const value: JsonValue = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
