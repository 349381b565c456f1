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
  #over = false;

  constructor(show: (partial: ToolResult) => void | Promise<void>) {
    this.#show = show;
  }

  report(partial: ToolResult): void {
    if (this.#over) return;
    this.#latest = partial;
    if (this.#isShowing) return;
    this.#shown = this.#showLatest();
    // It is the tool that reports: what a viewer throws is for whoever waits for the end.
    this.#shown.catch(() => {});
  }

  /** Lets nothing more through, and waits for what is being taken. Rejects as a viewer does. */
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
