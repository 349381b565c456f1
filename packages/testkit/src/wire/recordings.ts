import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";

/** An exchange recorded from a vendor's real server. */
export interface Recording {
  /** Source of the recording: project and file. */
  readonly src: string;
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ctype: string;
  /** The request body, parsed if it was JSON. */
  readonly req: unknown;
  /** The response body as text. */
  readonly res: string;
}

/** Recordings by their source. */
export type RecordingFile = "vercel-ai" | "pydantic-ai";

/** Vendors' API documents. */
export type SpecName =
  | "openai.yaml"
  | "anthropic.yaml"
  | "mistral.yaml"
  | "gemini.json"
  | "discord.json"
  | "whatsapp.yaml";

/**
 * Returns the folder of large recordings and API documents from outside this project, which the environment variable
 * `SIGNALBOX_RECORDINGS` names. `undefined` if it is not set: tests that need the folder are then skipped.
 *
 * @throws Error if the folder does not exist
 */
export function getRecordingsFolder(): string | undefined {
  const folder = process.env["SIGNALBOX_RECORDINGS"];
  if (folder === undefined || folder === "") return undefined;
  if (!existsSync(folder)) throw new Error(`SIGNALBOX_RECORDINGS names a missing folder: ${folder}`);
  return folder;
}

function read(...path: readonly string[]): string | undefined {
  const folder = getRecordingsFolder();
  if (folder === undefined) return undefined;
  const file = join(folder, ...path);
  return existsSync(file) ? gunzipSync(readFileSync(file)).toString("utf8") : undefined;
}

/**
 * Returns every usable recording of `recordings/<file>.jsonl.gz` in the folder, or `undefined` if the file does not
 * exist. An event stream always ends with a blank line.
 */
export function readRecordings(file: RecordingFile): readonly Recording[] | undefined {
  const text = read("recordings", `${file}.jsonl.gz`);
  if (text === undefined) return undefined;
  const recordings: Recording[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const entry: Omit<Recording, "res"> & { res: unknown } = JSON.parse(line);
    let res = entry.res;
    if (typeof res === "object" && res !== null) {
      if ("_base64" in res) continue;
      res = JSON.stringify(res);
    }
    if (typeof res !== "string" || res === "") continue;
    if (/event-stream/.test(entry.ctype)) {
      if (!/(^|\n)data:/.test(res)) continue;
      if (!/\r?\n\r?\n$/.test(res)) res = res.replace(/[\r\n]*$/, "\n\n");
    }
    recordings.push({ ...entry, res: res as string });
  }
  return recordings;
}

/**
 * Returns a vendor's API document, `specs/<name>.gz` in the folder, as YAML or JSON text. `undefined` if it does not
 * exist.
 */
export function readSpec(name: SpecName): string | undefined {
  return read("specs", `${name}.gz`);
}
