import type { MessageEvent } from "@signalbox/channel";

type NamedMessage = Pick<MessageEvent, "channel" | "account" | "messageId">;

/** Messages that are about to be written to the inbox, or to be changed there. */
export class PendingMessages {
  readonly #pending = new Map<string, Promise<unknown>>();
  /** The last change of each message that has changes in progress. */
  readonly #changes = new Map<string, Promise<unknown>>();

  /** Counts the message as pending until `work` completes. */
  async track<T>(message: NamedMessage, work: Promise<T>): Promise<T> {
    const key = getKey(message);
    this.#pending.set(key, work);
    try {
      return await work;
    } finally {
      if (this.#pending.get(key) === work) this.#pending.delete(key);
    }
  }

  /** Resolves when the message is no longer pending. */
  async wait(message: NamedMessage): Promise<void> {
    await this.#pending.get(getKey(message))?.catch(() => {});
  }

  /**
   * Runs the changes of a message one after the other, because a platform may deliver the same change twice at once.
   * The second delivery then finds what the first one has stored.
   */
  async change<T>(message: NamedMessage, work: () => Promise<T>): Promise<T> {
    const key = getKey(message);
    const result = (this.#changes.get(key) ?? Promise.resolve()).then(work);
    const ended = result.catch(() => {});
    this.#changes.set(key, ended);
    try {
      return await result;
    } finally {
      if (this.#changes.get(key) === ended) this.#changes.delete(key);
    }
  }
}

function getKey({ channel, account, messageId }: NamedMessage): string {
  return JSON.stringify([channel, account, messageId]);
}
