import { AgentError, errorText } from "../errors.ts";
import type { EmitEvent } from "../events.ts";
import type { ToolResult } from "../tool.ts";

/**
 * The progress of one call on its way to whoever watches. A tool does not wait when it reports some, so while the last
 * report is still being taken only the latest one is held: a slow listener costs two of them, however many there are.
 */
export class Updates {
  readonly #emit: EmitEvent;
  readonly #callId: string;
  #busy: Promise<void> | undefined;
  #latest: ToolResult | undefined;
  #failed: { readonly error: unknown } | undefined;
  #over = false;

  constructor(emit: EmitEvent, callId: string) {
    this.#emit = emit;
    this.#callId = callId;
  }

  push(partial: ToolResult): void {
    if (this.#busy !== undefined) this.#latest = partial;
    else if (!this.#over) this.#tell(partial);
  }

  /** Lets nothing more through, and waits for what is being taken. @throws AgentError `hook_failed` when a listener threw */
  async end(): Promise<void> {
    this.#over = true;
    await this.#busy;
    if (this.#failed === undefined) return;
    const { error } = this.#failed;
    throw new AgentError("hook_failed", errorText(error), { cause: error });
  }

  // It is the tool that calls: what a listener throws is not for it.
  #tell(partial: ToolResult): void {
    try {
      const wait = this.#emit({ type: "tool.update", callId: this.#callId, partial });
      if (wait !== undefined) this.#busy = Promise.resolve(wait).then(this.#next, this.#fail);
    } catch (error) {
      this.#fail(error);
    }
  }

  readonly #next = (): void => {
    this.#busy = undefined;
    const latest = this.#latest;
    this.#latest = undefined;
    if (latest !== undefined && !this.#over) this.#tell(latest);
  };

  readonly #fail = (error: unknown): void => {
    this.#busy = undefined;
    this.#over = true;
    this.#failed = { error };
  };
}
