import { type IMessageAddress, keyOf } from "./address.ts";
import { limits } from "./limits.ts";
import type { Row } from "./row.ts";

/**
 * Chats whose GUIDs are known, and messages that the account has sent with a receipt. The oldest entries are dropped.
 */
export class KnownChats {
  readonly #guids = new Map<string, string>();
  readonly #sent = new Set<string>();
  readonly #guidsByKey = new Map<string, string>();

  note({ chat, chatGuid }: Pick<Row, "chat" | "chatGuid">): void {
    if (chat === undefined || chatGuid === "") return;
    this.#guids.delete(keyOf(chat));
    this.#guids.set(keyOf(chat), chatGuid);
    drop(this.#guids);
  }

  /** Returns the GUID of a chat, if a message in it was read. */
  guidOf(to: IMessageAddress): string | undefined {
    return this.#guids.get(keyOf(to));
  }

  /** @param key the idempotency key of the part */
  noteSent(key: string, guid: string): void {
    this.#sent.add(guid);
    drop(this.#sent);
    this.#guidsByKey.set(key, guid);
    drop(this.#guidsByKey);
  }

  /** Returns the id of a part that was sent with a receipt. */
  sentAs(key: string): string | undefined {
    return this.#guidsByKey.get(key);
  }

  isSent(guid: string): boolean {
    return this.#sent.has(guid);
  }
}

function drop(entries: {
  readonly size: number;
  delete(key: string): boolean;
  keys(): Iterable<string>;
}): void {
  const [oldest] = entries.size > limits.remembered ? entries.keys() : [];
  if (oldest !== undefined) entries.delete(oldest);
}
