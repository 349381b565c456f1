import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

/** One exchange recorded from a vendor's real server. */
export interface Recording {
  /** Where it was recorded: project and file. */
  readonly src: string;
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ctype: string;
  /** The request body, parsed where it was JSON. */
  readonly req: unknown;
  /** The answer's body as text. */
  readonly res: string;
}

/** Recordings are kept by where they come from. */
export type RecordingFile = "vercel-ai" | "pydantic-ai";

/** Vendors' API documents. */
export type SpecName = "openai.yaml" | "anthropic.yaml" | "mistral.yaml" | "gemini.json" | "discord.json";

/**
 * The folder of wire data nobody on this project wrote: `shared/wire` beside the repository. `undefined` where it is
 * absent, and tests that need it are skipped with that reason.
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
 * Every usable recording of a file; `undefined` where the data is absent. An event stream always ends in a blank line.
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

/** A vendor's API document as text (YAML or JSON by its name); `undefined` where the data is absent. */
export function readSpec(name: SpecName): string | undefined {
  return read("specs", `${name}.gz`);
}
