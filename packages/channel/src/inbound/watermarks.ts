import type { ChannelState, Clock } from "../contract/definition.ts";
import type { Json } from "../contract/json.ts";
import { isPayload, objectAt, type Payload } from "./payload.ts";

interface WatermarkOptions {
  readonly state: ChannelState;
  readonly clock: Clock;
  /** The bot's own id on the platform: another bot under the same account starts afresh. */
  readonly botId: string;
  /** How many conversations are remembered, those with the latest messages. */
  readonly most: number;
  /** What is to be read yet of a conversation whose watermark is at `at`: what is written stays before it. */
  readonly readUpTo: (conversation: string, at: number) => number;
}

/** Ten times as many are kept in memory as are stored. */
const atHand = 10;
/** A watermark that is written late costs a longer look back, not a message. */
const writeEveryMs = 10_000;

/** When each conversation was last heard of, in milliseconds since the epoch, over restarts. */
export class Watermarks {
  readonly #options: WatermarkOptions;
  readonly #key: string;
  #loading: Promise<Map<string, number>> | undefined;
  #writtenAt = 0;

  constructor(options: WatermarkOptions) {
    this.#options = options;
    this.#key = `${options.botId}/watermarks`;
  }

  /** Of the conversations with the latest messages. */
  async newest(): Promise<readonly [string, number][]> {
    return this.#newestOf(await this.#load());
  }

  async moveUp(conversation: string, at: number): Promise<void> {
    const { clock } = this.#options;
    const watermarks = await this.#load();
    const before = watermarks.get(conversation);
    if (before !== undefined && before >= at) return;
    watermarks.set(conversation, Math.min(at, clock.now()));
    if (watermarks.size > this.#options.most * atHand) forgetAllBut(this.#newestOf(watermarks), watermarks);
    if (before === undefined || clock.now() - this.#writtenAt >= writeEveryMs) await this.#write(watermarks);
  }

  /** Writes them down, where any were looked at. */
  async flush(): Promise<void> {
    if (this.#loading !== undefined) await this.#write(await this.#loading);
  }

  #load(): Promise<Map<string, number>> {
    this.#loading ??= this.#options.state.get(this.#key).then(
      (saved) => readWatermarks(isPayload(saved) ? saved : {}),
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }

  #newestOf(watermarks: ReadonlyMap<string, number>): readonly [string, number][] {
    return [...watermarks].sort((a, b) => b[1] - a[1]).slice(0, this.#options.most);
  }

  async #write(watermarks: ReadonlyMap<string, number>): Promise<void> {
    const { state, clock, readUpTo } = this.#options;
    this.#writtenAt = clock.now();
    const conversations: Json = Object.fromEntries(
      this.#newestOf(watermarks).map(([conversation, at]) => [conversation, readUpTo(conversation, at)]),
    );
    await state.set(this.#key, { conversations });
  }
}

function forgetAllBut(newest: readonly [string, number][], watermarks: Map<string, number>): void {
  watermarks.clear();
  for (const [conversation, at] of newest) watermarks.set(conversation, at);
}

function readWatermarks(saved: Payload): Map<string, number> {
  return new Map(
    Object.entries(objectAt(saved, "conversations")).flatMap(([conversation, at]): [string, number][] =>
      typeof at === "number" ? [[conversation, at]] : [],
    ),
  );
}
