import type { Capabilities, Clock, Draft } from "@signalbox/channel";

type Lifetime = NonNullable<Capabilities["preview"]>;

export interface PreviewOptions {
  /** Opens another draft; undefined where the channel has none. */
  readonly open: () => Promise<Draft | undefined>;
  readonly lifetime: Lifetime;
  readonly clock: Clock;
  /** From then on nothing is shown any more. */
  readonly signal: AbortSignal;
  /** It could not be kept: what is written next begins another. */
  readonly onLost: (error: unknown) => void;
}

/** How much of its life a preview has behind it when it is prolonged, or another takes its place. */
const RENEWED_AT = 0.8;

/**
 * A draft that its platform takes away by itself after a while: until the answer is done it is prolonged before that,
 * or another one takes its place. It never becomes a message.
 */
export class Preview {
  /** It is no message. */
  readonly messageId: undefined = undefined;
  readonly #options: PreviewOptions;
  readonly #ended: AbortController = new AbortController();
  #draft: Draft | undefined;
  #text = "";
  #isKept = false;
  /** What is done to it is done one after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: PreviewOptions) {
    this.#options = options;
  }

  /** @throws ChannelError as the draft does */
  update(text: string): Promise<void> {
    return this.#inTurn(async () => {
      this.#draft ??= await this.#options.open();
      await this.#draft?.update(text);
      this.#text = text;
      this.#keep();
    });
  }

  /** Takes it away. @throws ChannelError as the draft does */
  abort(): Promise<void> {
    this.#ended.abort();
    return this.#inTurn(async () => this.#draft?.abort());
  }

  #keep(): void {
    const { lifetimeMs } = this.#options.lifetime;
    if (this.#isKept || lifetimeMs === undefined) return;
    this.#isKept = true;
    void this.#renewEvery(lifetimeMs * RENEWED_AT);
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
    // It would go by itself.
    await draft.abort().catch(() => {});
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
