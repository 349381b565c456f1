import type { ToolSpec } from "@signalbox/agent-core";
import { digestId } from "../shared/digest.ts";
import { entryOf } from "../shared/json.ts";

/** What a tool may be called, by wire format. A format that is absent takes any name. */
const SHAPES: Readonly<Record<string, { readonly valid: RegExp; readonly length: number }>> = {
  "anthropic-messages": { valid: /^[a-zA-Z0-9_-]{1,128}$/, length: 128 },
  "openai-responses": { valid: /^[a-zA-Z0-9_-]{1,64}$/, length: 64 },
  "openai-chat": { valid: /^[a-zA-Z0-9_-]{1,64}$/, length: 64 },
  "mistral-chat": { valid: /^[a-zA-Z0-9_-]{1,64}$/, length: 64 },
  // Declarations may hold dots and colons, calls may not.
  "google-generative": { valid: /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/, length: 64 },
};

/** How made names end. A name that ends so by itself is replaced too: no tool can take the name made for another. */
const MADE = /_x_[0-9a-zA-Z]{12}$/;
const MADE_LENGTH = 15;

/**
 * A tool's name as the wire format takes it: the same where it fits, else one that resembles it and ends in its hash,
 * so that a tool, its calls and their results agree without knowing of each other. Models call tools that do not
 * exist, by any name, and their calls have to go back to them.
 */
export function toolNameFor(api: string, name: string): string {
  const shape = entryOf(SHAPES, api);
  if (shape === undefined || (shape.valid.test(name) && !MADE.test(name))) return name;
  const like = name.slice(0, shape.length - MADE_LENGTH - 1).replace(/[^a-zA-Z0-9_-]/g, "_");
  return `${/^[a-zA-Z_]/.test(like) ? like : `_${like}`}_x_${digestId(name, 12)}`;
}

/** Tools under the names a wire format takes. */
export interface WireTools {
  readonly tools: readonly ToolSpec[];
  /** The tools' own names by those on the wire, of those that differ; `undefined` where none does. */
  readonly names: ReadonlyMap<string, string> | undefined;
}

const renamed = new WeakMap<ToolSpec, ToolSpec>();

/** Tools as the wire format takes them; the same array where every name fits, and the same objects again otherwise. */
export function wireTools(api: string, tools: readonly ToolSpec[]): WireTools {
  let names: Map<string, string> | undefined;
  for (const { name } of tools) {
    const made = toolNameFor(api, name);
    if (made === name) continue;
    names ??= new Map();
    names.set(made, name);
  }
  if (names === undefined) return { tools, names };
  const all = tools.map((tool) => {
    const name = toolNameFor(api, tool.name);
    if (name === tool.name) return tool;
    const before = renamed.get(tool);
    if (before?.name === name) return before;
    const made = { ...tool, name };
    renamed.set(tool, made);
    return made;
  });
  return { tools: all, names };
}
