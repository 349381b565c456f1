import type { Capabilities, Clock, Draft } from "@signalbox/channel";

type Lifetime = NonNullable<Capabilities["preview"]>;

export interface PreviewOptions {
  /** Opens a draft; resolves with `undefined` if the channel has none. */
  readonly open: () => Promise<Draft | undefined>;
  readonly lifetime: Lifetime;
  readonly clock: Clock;
  /** Aborts when nothing more is shown. */
  readonly signal: AbortSignal;
  /** Called if the preview could not be renewed. The next update opens another one. */
  readonly onLost: (error: unknown) => void;
}

/** Share of its lifetime after which a preview is renewed. */
const RENEW_AFTER = 0.8;

/**
 * A draft that its platform removes after a while. Until the answer is complete, it is extended or replaced in time. It
 * never becomes a message.
 */
export class Preview {
  /** A preview has no message. */
  readonly messageId: undefined = undefined;
  readonly #options: PreviewOptions;
  readonly #ended: AbortController = new AbortController();
  #draft: Draft | undefined;
  #text = "";
  #isRenewing = false;
  /** The last operation. Operations run one at a time. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PreviewOptions) {
    this.#options = options;
  }

  /** @throws ChannelError from the draft */
  update(text: string): Promise<void> {
    return this.#inTurn(async () => {
      this.#draft ??= await this.#options.open();
      await this.#draft?.update(text);
      this.#text = text;
      this.#startRenewing();
    });
  }

  /** Removes the preview. @throws ChannelError from the draft */
  abort(): Promise<void> {
    this.#ended.abort();
    return this.#inTurn(async () => this.#draft?.abort());
  }

  #startRenewing(): void {
    const { lifetimeMs } = this.#options.lifetime;
    if (this.#isRenewing || lifetimeMs === undefined) return;
    this.#isRenewing = true;
    void this.#renewEvery(lifetimeMs * RENEW_AFTER);
  }

  async #renewEvery(ms: number): Promise<void> {
    const { clock, signal, onLost } = this.#options;
    const until = AbortSignal.any([signal, this.#ended.signal]);
    for (;;) {
      await clock.delay(ms, until).catch(() => {});
      if (until.aborted) return;
      await this.#inTurn(() => this.#renew()).catch((error: unknown) => {
        this.#draft = undefined;
        onLost(error);
      });
    }
  }

  async #renew(): Promise<void> {
    const draft = this.#draft;
    if (draft === undefined) return;
    if (this.#options.lifetime.prolong === true && draft.prolong !== undefined) return draft.prolong();
    const next = await this.#options.open();
    await next?.update(this.#text);
    this.#draft = next;
    // If the removal fails, the platform removes the old preview at the end of its lifetime.
    await draft.abort().catch(() => {});
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
