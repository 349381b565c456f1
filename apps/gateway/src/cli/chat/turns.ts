import type { ServerFrame } from "@signalbox/client";

interface TurnsOptions {
  readonly say: (line: string, signal: AbortSignal) => AsyncIterable<ServerFrame>;
  /** Creates a printer for the frames of one run. */
  readonly screen: () => (frame: ServerFrame) => void;
  /** Called when no run remains. */
  readonly onIdle: () => void;
}

/** Unfinished messages. Only the frames of the oldest are shown. */
export class Turns {
  readonly #options: TurnsOptions;
  readonly #open: AbortController[] = [];

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  get areOver(): boolean {
    return this.#open.length === 0;
  }

  async take(line: string): Promise<void> {
    const { say, screen, onIdle } = this.#options;
    const turn = new AbortController();
    this.#open.push(turn);
    const show = screen();
    try {
      for await (const frame of say(line, turn.signal)) if (this.#open[0] === turn) show(frame);
    } finally {
      this.#open.splice(this.#open.indexOf(turn), 1);
      if (this.areOver) onIdle();
    }
  }

  abort(): void {
    for (const turn of this.#open) turn.abort();
  }
}
