import { isJsonObject } from "@signalbox/agent-core";
import { parseObject, textAt } from "../shared/json.ts";

const OPEN = "<tool_call>";
const CLOSE = "</tool_call>";

/** A tool call that a model wrote into its text. */
export interface TextCall {
  readonly name: string;
  readonly argsText: string;
}

/**
 * Finds tool calls at the end of a streamed text, in the format of Hermes and Qwen models. They get there if a server
 * does not parse them. Text passes through at once, except for a line that may begin a call.
 *
 * Calls count only at the end of the answer and only for tools that were offered, so that a model can write about them.
 */
export class TextCalls {
  readonly #names: ReadonlySet<string>;
  /** Text that may be calls, or the beginning of one. */
  #held = "";
  /** True if `#held` is at the beginning of a line, apart from blanks. */
  #isLineStart = true;

  /** @param names the offered tools */
  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
  }

  /** Returns the text that can be passed on. */
  push(piece: string): string {
    this.#held += piece;
    let passed = "";
    for (;;) {
      const at = this.#findStart();
      passed += this.#take(at);
      if (this.#held === "" || mayBeCalls(this.#held)) return passed;
      // Other text follows, so this was no call.
      passed += this.#take(Math.max(1, this.#held.indexOf("\n") + 1));
    }
  }

  /**
   * Returns the calls at the end of the text, or the text that was held back.
   * @param complete false if the answer was cut: it may end in half a call
   */
  end(complete: boolean): { readonly text: string; readonly calls: readonly TextCall[] } {
    const text = this.#take(this.#held.length);
    if (!complete) return { text, calls: [] };
    const bodies = text.split(OPEN).slice(1);
    const calls = bodies.map((body) => this.#readCall(body));
    const isWhole = calls.length > 0 && calls.every((call) => call !== undefined);
    return isWhole ? { text: "", calls: calls.flatMap((call) => call ?? []) } : { text, calls: [] };
  }

  #readCall(body: string): TextCall | undefined {
    const parts = body.split(CLOSE);
    // Some models leave out the last closing tag.
    if (parts.length > 2 || (parts[1] ?? "").trim() !== "") return undefined;
    const call = parseObject((parts[0] ?? "").trim()) ?? {};
    const name = textAt(call, "name");
    const args = call.arguments ?? call.parameters ?? {};
    if (name === undefined || !this.#names.has(name)) return undefined;
    if (typeof args === "string") return { name, argsText: args };
    return isJsonObject(args) ? { name, argsText: JSON.stringify(args) } : undefined;
  }

  /** Returns the first place at which a call may begin, or the length of the text. */
  #findStart(): number {
    for (const { index, 0: blanks } of this.#held.matchAll(/^[ \t]*(?=<)/gm)) {
      if (index === 0 && !this.#isLineStart) continue;
      const start = index + blanks.length;
      const line = this.#held.slice(start);
      if (line.startsWith(OPEN) || OPEN.startsWith(line)) return start;
    }
    return this.#held.length;
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    const [line = ""] = taken.split("\n").slice(-1);
    this.#isLineStart = (taken.includes("\n") || this.#isLineStart) && line.trim() === "";
    return taken;
  }
}

/** Returns true if a text consists of calls only. The last one may still be incomplete. */
function mayBeCalls(text: string): boolean {
  let rest = text.trimStart();
  while (rest.startsWith(OPEN)) {
    const end = rest.indexOf(CLOSE);
    if (end < 0) return true;
    rest = rest.slice(end + CLOSE.length).trimStart();
  }
  return OPEN.startsWith(rest);
}
