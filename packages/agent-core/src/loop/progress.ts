import type { ToolResult } from "../tool.ts";

/**
 * Progress of one call. Tools do not wait for viewers: while a report is being delivered, only the latest new one is
 * kept.
 */
export class Progress {
  readonly #show: (partial: ToolResult) => void | Promise<void>;
  #latest: ToolResult | undefined;
  #isShowing = false;
  #shown: Promise<void> | undefined;
  #over = false;

  constructor(show: (partial: ToolResult) => void | Promise<void>) {
    this.#show = show;
  }

  report(partial: ToolResult): void {
    if (this.#over) return;
    this.#latest = partial;
    if (this.#isShowing) return;
    this.#shown = this.#showLatest();
    // `end` reports an error from a viewer. The tool does not get it.
    this.#shown.catch(() => {});
  }

  /** Stops further reports and waits for the current one. Rejects if a viewer did. */
  end(): Promise<void> | undefined {
    this.#over = true;
    return this.#shown;
  }

  async #showLatest(): Promise<void> {
    this.#isShowing = true;
    try {
      for (let latest = this.#latest; latest !== undefined && !this.#over; latest = this.#latest) {
        this.#latest = undefined;
        await this.#show(latest);
      }
    } catch (error) {
      this.#over = true;
      throw error;
    } finally {
      this.#isShowing = false;
    }
  }
}
