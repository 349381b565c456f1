import type { AgentLoopConfig } from "../config.ts";
import type { ToolCallBlock } from "../content.ts";
import { canonicalJson } from "../json.ts";

const WARN_AT = 3;
const STOP_AT = 6;
/** Number of calls to remember. */
const WINDOW = 32;

/** Detects equal calls among the most recent ones of a run. */
export class Repeats {
  readonly #policy: AgentLoopConfig["repeat"];
  readonly #recent: string[] = [];

  constructor(policy: AgentLoopConfig["repeat"]) {
    this.#policy = policy;
  }

  /** Counts equal calls and returns how to handle this one. */
  add(call: ToolCallBlock): { readonly count: number; readonly action: "none" | "warn" | "stop" } {
    const isFree = this.#policy === false || this.#policy?.exempt.includes(call.name) === true;
    if (isFree) return { count: 1, action: "none" };
    // Ignore whitespace and key order of the arguments.
    const key = `${call.name}\n${call.args === undefined ? call.argsText : canonicalJson(call.args)}`;
    const count = this.#recent.filter((other) => other === key).length + 1;
    if (this.#recent.push(key) > WINDOW) this.#recent.shift();
    if (count >= STOP_AT) return { count, action: "stop" };
    return { count, action: count >= WARN_AT ? "warn" : "none" };
  }
}
