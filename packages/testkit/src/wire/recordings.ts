import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
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
export type SpecName = "openai.yaml" | "anthropic.yaml" | "mistral.yaml" | "gemini.json" | "discord.json";

/**
 * Returns the folder of recordings and specifications from outside this project, `shared/wire` beside the repository.
 * `undefined` if it does not exist. Tests that need it are then skipped with that reason.
 */
export function wireFolder(): string | undefined {
  let at = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(at, "pnpm-workspace.yaml"))) {
    const up = dirname(at);
    if (up === at) return undefined;
    at = up;
  }
  const folder = join(dirname(at), "shared", "wire");
  return existsSync(folder) ? folder : undefined;
}

function read(...path: readonly string[]): string | undefined {
  const folder = wireFolder();
  if (folder === undefined) return undefined;
  const file = join(folder, ...path);
  return existsSync(file) ? gunzipSync(readFileSync(file)).toString("utf8") : undefined;
}

/**
 * Returns every usable recording of a file, or `undefined` if the file does not exist. An event stream always ends with
 * a blank line.
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
 * Returns a vendor's API document as text (YAML or JSON, depending on its name), or `undefined` if it does not exist.
 */
export function readSpec(name: SpecName): string | undefined {
  return read("specs", `${name}.gz`);
}
