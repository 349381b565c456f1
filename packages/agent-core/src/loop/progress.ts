import { AgentError, reasonOf } from "../errors.ts";
import type { ToolResult } from "../tool.ts";

/**
 * The progress of one call on its way to whoever watches. A tool does not wait when it reports some, so while the last
 * report is still being taken only the latest one is kept: a slow viewer costs two of them, however many there are.
 */
export class Progress {
  readonly #show: (partial: ToolResult) => void | Promise<void>;
  #showing: Promise<void> | undefined;
  #latest: ToolResult | undefined;
  #failure: AgentError | undefined;
  #over = false;

  constructor(show: (partial: ToolResult) => void | Promise<void>) {
    this.#show = show;
  }

  report(partial: ToolResult): void {
    if (this.#over) return;
    if (this.#showing !== undefined) {
      this.#latest = partial;
      return;
    }
    // It is the tool that reports: what a viewer throws is not for it.
    try {
      const wait = this.#show(partial);
      if (wait !== undefined) this.#showing = this.#showLatestAfter(wait);
    } catch (error) {
      this.#fail(error);
    }
  }

  /**
   * Lets nothing more through, and waits for what is being taken.
   * @throws AgentError `hook_failed` when a viewer threw
   */
  async end(): Promise<void> {
    this.#over = true;
    await this.#showing;
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #showLatestAfter(wait: Promise<void>): Promise<void> {
    try {
      await wait;
      while (this.#latest !== undefined && !this.#over) {
        const latest = this.#latest;
        this.#latest = undefined;
        await this.#show(latest);
      }
    } catch (error) {
      this.#fail(error);
    }
    this.#showing = undefined;
  }

  #fail(error: unknown): void {
    this.#over = true;
    this.#failure = new AgentError("hook_failed", reasonOf(error), { cause: error });
  }
}
