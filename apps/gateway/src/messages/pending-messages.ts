import type { MessageEvent } from "@signalbox/channel";

type NamedMessage = Pick<MessageEvent, "channel" | "account" | "messageId">;

/** Messages that are about to be written to the inbox. */
export class PendingMessages {
  readonly #pending = new Map<string, Promise<unknown>>();

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
}

function getKey({ channel, account, messageId }: NamedMessage): string {
  return JSON.stringify([channel, account, messageId]);
}
