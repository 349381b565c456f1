import type { ChannelState, Clock } from "../contract/definition.ts";
import type { Json } from "../contract/json.ts";
import { isPayload, objectAt, type Payload } from "./payload.ts";

interface WatermarkOptions {
  readonly state: ChannelState;
  readonly clock: Clock;
  /** The bot's id on the platform. Part of the key. */
  readonly botId: string;
  /** Maximum number of conversations to store. The ones with the latest messages are kept. */
  readonly max: number;
  /** Limits the watermark to store while earlier messages of the conversation are still unread. */
  readonly limit: (conversation: string, at: number) => number;
}

/** Maximum number of watermarks in memory, as a multiple of the stored ones. */
const IN_MEMORY_FACTOR = 10;
/**
 * Interval between writes in milliseconds. After a crash, an outdated watermark only causes more messages to be read.
 */
const WRITE_INTERVAL_MS = 10_000;

/** Stores the time of the latest message per conversation, in milliseconds since the epoch. */
export class Watermarks {
  readonly #options: WatermarkOptions;
  readonly #key: string;
  #loading: Promise<Map<string, number>> | undefined;
  #writtenAt = 0;

  constructor(options: WatermarkOptions) {
    this.#options = options;
    this.#key = `${options.botId}/watermarks`;
  }

  /** Returns the watermarks of the conversations with the latest messages. */
  async newest(): Promise<readonly [string, number][]> {
    return this.#selectNewest(await this.#load());
  }

  /** Advances a watermark. It never moves backward or into the future. */
  async advance(conversation: string, at: number): Promise<void> {
    const { clock } = this.#options;
    const watermarks = await this.#load();
    const before = watermarks.get(conversation);
    if (before !== undefined && before >= at) return;
    watermarks.set(conversation, Math.min(at, clock.now()));
    if (watermarks.size > this.#options.max * IN_MEMORY_FACTOR)
      keepOnly(this.#selectNewest(watermarks), watermarks);
    if (before === undefined || clock.now() - this.#writtenAt >= WRITE_INTERVAL_MS)
      await this.#write(watermarks);
  }

  /** Stores the watermarks if they have been loaded. */
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

  #selectNewest(watermarks: ReadonlyMap<string, number>): readonly [string, number][] {
    return [...watermarks].sort((a, b) => b[1] - a[1]).slice(0, this.#options.max);
  }

  async #write(watermarks: ReadonlyMap<string, number>): Promise<void> {
    const { state, clock, limit } = this.#options;
    this.#writtenAt = clock.now();
    const conversations: Json = Object.fromEntries(
      this.#selectNewest(watermarks).map(([conversation, at]) => [conversation, limit(conversation, at)]),
    );
    await state.set(this.#key, { conversations });
  }
}

function keepOnly(newest: readonly [string, number][], watermarks: Map<string, number>): void {
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
