import type { RepeatPolicy } from "../config.ts";
import type { ToolCallBlock } from "../content.ts";
import type { JsonValue } from "../json.ts";

const WARN_AT = 3;
const STOP_AT = 6;
const WINDOW = 32;

/** What the n-th same call calls for. */
export interface Repeat {
  readonly count: number;
  readonly action: "none" | "warn" | "stop";
}

/** Notices the same call with the same arguments among the last calls of a run. */
export class Repeats {
  readonly #policy: RepeatPolicy | false;
  readonly #recent: string[] = [];
  #counts: Map<string, number> | undefined;

  constructor(policy: RepeatPolicy | false) {
    this.#policy = policy;
  }

  note(call: ToolCallBlock): Repeat {
    const policy = this.#policy;
    if (policy === false || policy.exempt?.includes(call.name) === true) return { count: 1, action: "none" };
    const key = `${call.name}\n${call.args === undefined ? call.argsText : canonical(call.args)}`;
    this.#counts ??= new Map();
    const counts = this.#counts;
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    if (this.#recent.push(key) > (policy.window ?? WINDOW)) forget(counts, this.#recent.shift());
    if (count >= (policy.stopAt ?? STOP_AT)) return { count, action: "stop" };
    return { count, action: count >= (policy.warnAt ?? WARN_AT) ? "warn" : "none" };
  }
}

/** The same text for the same value, however its model spaced it or ordered its keys. */
function canonical(value: JsonValue): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isArray(value)) return `[${value.map(canonical).join()}]`;
  const keys = Object.keys(value);
  if (keys.length > 1) keys.sort();
  let text = "{";
  for (const key of keys) {
    const item = value[key];
    if (item !== undefined) text += `${JSON.stringify(key)}:${canonical(item)},`;
  }
  return `${text}}`;
}

function isArray(value: object): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function forget(counts: Map<string, number>, key: string | undefined): void {
  if (key === undefined) return;
  const count = (counts.get(key) ?? 0) - 1;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
