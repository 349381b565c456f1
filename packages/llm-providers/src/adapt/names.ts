import type { ToolSpec } from "@signalbox/agent-core";
import { digestId } from "../shared/digest.ts";
import { entryOf } from "../shared/json.ts";
import { adaptSchema } from "./schema.ts";

interface Format {
  readonly longestName: number;
  readonly name?: RegExp;
  /** Pattern of valid call ids. Default: any. */
  readonly id?: RegExp;
  /** Prefix of a generated id. */
  readonly prefix?: string;
  readonly idLength?: number;
}

/** By wire format. Other formats accept anything. */
const FORMATS: Readonly<Record<string, Format>> = {
  "anthropic-messages": { longestName: 128, id: /^[a-zA-Z0-9_-]{1,64}$/, prefix: "toolu_" },
  "openai-responses": { longestName: 64, id: /^[a-zA-Z0-9_-]{1,64}$/ },
  "openai-chat": { longestName: 64, id: /^[a-zA-Z0-9_-]{1,40}$/ },
  "mistral-chat": { longestName: 64, id: /^[a-zA-Z0-9]{9}$/, prefix: "", idLength: 9 },
  // Declarations may contain dots and colons, but calls may not.
  "google-generative": { longestName: 64, name: /^[a-zA-Z_][a-zA-Z0-9_-]*$/ },
};

/** Returns the call id if it is valid, or one derived from its hash, so that a call and its result match. */
export function callIdFor(api: string, id: string): string {
  const { id: valid, prefix = "call_", idLength = 24 } = entryOf(FORMATS, api) ?? {};
  return valid === undefined || valid.test(id) ? id : prefix + digestId(id, idLength);
}

/**
 * The suffix of generated names. A tool whose own name has such a suffix is renamed as well, so that names stay unique.
 */
const MADE = /_x_[0-9a-zA-Z]{12}$/;
const MADE_LENGTH = 15;

/**
 * Returns the tool's name if it is valid, or a similar name that ends in a hash of it, so that a tool, its calls and
 * their results match. Models call tools that do not exist, by any name, and those calls are sent back too.
 */
export function toolNameFor(api: string, name: string): string {
  const format = entryOf(FORMATS, api);
  if (format === undefined) return name;
  const { longestName, name: valid = /^[a-zA-Z0-9_-]+$/ } = format;
  if (valid.test(name) && name.length <= longestName && !MADE.test(name)) return name;
  const like = name.slice(0, longestName - MADE_LENGTH - 1).replace(/[^a-zA-Z0-9_-]/g, "_");
  return `${/^[a-zA-Z_]/.test(like) ? like : `_${like}`}_x_${digestId(name, 12)}`;
}

/** The tools of a request, and the original names to restore in its response. */
export interface WireTools {
  readonly tools: readonly ToolSpec[];
  /** The tools' original names by wire name. Contains only names that differ. */
  readonly names: ReadonlyMap<string, string>;
  /** The original names of a tool's properties by wire name, by the tool's original name. */
  readonly properties: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

export function wireTools(api: string, given: readonly ToolSpec[]): WireTools {
  const names = new Map<string, string>();
  const properties = new Map<string, ReadonlyMap<string, string>>();
  const tools = given.map((own) => {
    const adapted = adaptSchema(api, own);
    if (adapted.properties.size > 0) properties.set(own.name, adapted.properties);
    const name = toolNameFor(api, own.name);
    if (name !== own.name) names.set(name, own.name);
    return { ...adapted.tool, name };
  });
  return { tools, names, properties };
}
