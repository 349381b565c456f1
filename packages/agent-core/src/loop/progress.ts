import { AgentError, reasonOf } from "../errors.ts";
import type { ToolResult } from "../tool.ts";

/**
 * The progress of one call on its way to whoever watches. A tool does not wait when it reports some, so while the last
 * report is still being taken only the latest one is kept: a slow viewer costs two of them, however many there are.
 */
export class Progress {
  readonly #show: (partial: ToolResult) => void | Promise<void>;
  #latest: ToolResult | undefined;
  #isShowing = false;
  #shown: Promise<void> | undefined;
  #failure: AgentError | undefined;
  #over = false;

  constructor(show: (partial: ToolResult) => void | Promise<void>) {
    this.#show = show;
  }

  report(partial: ToolResult): void {
    if (this.#over) return;
    this.#latest = partial;
    if (!this.#isShowing) this.#shown = this.#showLatest();
  }

  /**
   * Lets nothing more through, and waits for what is being taken.
   * @throws AgentError `hook_failed` when a viewer threw
   */
  async end(): Promise<void> {
    this.#over = true;
    await this.#shown;
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** It is the tool that reports: what a viewer throws is not for it. */
  async #showLatest(): Promise<void> {
    this.#isShowing = true;
    try {
      while (this.#latest !== undefined && !this.#over) {
        const latest = this.#latest;
        this.#latest = undefined;
        const taken = this.#show(latest);
        if (taken !== undefined) await taken;
      }
    } catch (error) {
      this.#over = true;
      this.#failure = new AgentError("hook_failed", reasonOf(error), { cause: error });
    }
    this.#isShowing = false;
  }
}
