import type { RepeatPolicy } from "../config.ts";
import type { ToolCallBlock } from "../content.ts";
import { canonicalJson } from "../json.ts";

const WARN_AT = 3;
const STOP_AT = 6;
/** How many calls back are remembered. */
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

  constructor(policy: RepeatPolicy | false = {}) {
    this.#policy = policy;
  }

  add(call: ToolCallBlock): Repeat {
    const policy = this.#policy;
    if (policy === false || policy.exempt?.includes(call.name) === true) return { count: 1, action: "none" };
    // However the model spaced its arguments or ordered their keys.
    const key = `${call.name}\n${call.args === undefined ? call.argsText : canonicalJson(call.args)}`;
    const count = this.#recent.filter((other) => other === key).length + 1;
    if (this.#recent.push(key) > WINDOW) this.#recent.shift();
    if (count >= (policy.stopAt ?? STOP_AT)) return { count, action: "stop" };
    return { count, action: count >= (policy.warnAt ?? WARN_AT) ? "warn" : "none" };
  }
}
