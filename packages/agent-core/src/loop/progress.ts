import type { ToolResult } from "../tool.ts";

/**
 * Progress of one call. Tools do not wait for viewers, so while a report is being delivered, only the latest one is
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
    // An error of a viewer is reported by `end`, not to the tool.
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
