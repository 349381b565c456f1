import type { SeenRequest } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";

/** An uploaded file. */
export interface UploadedFile {
  readonly name: string;
  readonly content: Uint8Array;
}

/** The parameters of a call, from JSON or from a form whose fields are JSON, with files under `attach://` names. */
export interface Parameters {
  readonly values: Raw;
  file(field: string): UploadedFile | undefined;
}

/** Returns `undefined` for a body in another format. */
export function readParameters(seen: SeenRequest): Parameters | undefined {
  if (seen.bytes !== undefined) return readForm(seen.bytes, String(seen.headers["content-type"]));
  if (seen.text === "") return { values: {}, file: () => undefined };
  const body = parse(seen.text);
  return isRaw(body) ? { values: body, file: () => undefined } : undefined;
}

/**
 * Parses a form without a library, because strict parsers require spaces and quotes in headers that Telegram accepts
 * without, and that grammY omits.
 */
function readForm(bytes: Uint8Array, type: string): Parameters | undefined {
  const boundary = /boundary=([^\s;]+)/.exec(type)?.[1];
  const body = Buffer.from(bytes).toString("latin1");
  if (boundary === undefined || !body.trimEnd().endsWith(`--${boundary}--`)) return undefined;
  const values: Raw = {};
  const files = new Map<string, UploadedFile>();
  for (const part of body.split(`--${boundary}`).slice(1, -1)) {
    const [head = "", ...rest] = part.replace(/^\r\n|\r\n$/g, "").split("\r\n\r\n");
    const content = Buffer.from(rest.join("\r\n\r\n"), "latin1");
    const name = /name="([^"]*)"/.exec(head)?.[1];
    const fileName = /filename="?([^"\r\n;]*)/.exec(head)?.[1];
    if (name === undefined) return undefined;
    if (fileName === undefined) values[name] = parse(content.toString()) ?? content.toString();
    else
      files.set(name, { name: Buffer.from(fileName, "latin1").toString(), content: new Uint8Array(content) });
  }
  return {
    values,
    file: (field) => files.get(String(values[field]).replace(/^attach:\/\//, "")),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
