import {
  type ChannelContext,
  type Cursor,
  createCursor,
  emitAll,
  eventFacts,
  type HandleResult,
  reasonOf,
} from "@signalbox/channel";
import type { IMessageConfig } from "./config.ts";
import { toEvents } from "./inbound/events.ts";
import { limits } from "./limits.ts";
import type { Row } from "./row.ts";

/** Services that the reader needs from the account. */
interface Services {
  readonly botId: string;
  /** Remembers the GUID of the row's chat. */
  noteChat(row: Row): void;
  /** Returns true if the account has sent the message. */
  isOwn(guid: string): boolean;
}

/** Emits the rows that a transport reads. A row's position is stored after `emit` has accepted it. */
export class Reader {
  readonly #context: ChannelContext<IMessageConfig>;
  readonly #services: Services;
  readonly #cursor: Cursor<number>;

  constructor(context: ChannelContext<IMessageConfig>, services: Services) {
    this.#context = context;
    this.#services = services;
    this.#cursor = createCursor({
      state: context.state,
      key: `${services.botId} rows`,
      parse: (stored) => (typeof stored === "number" && Number.isSafeInteger(stored) ? stored : undefined),
      logger: context.logger,
    });
  }

  /**
   * Returns the position after which to read. The first start begins after the latest row. A position after the latest
   * row belongs to a database that was replaced, or to a row that the transport does not see; reading rows again is
   * harmless, because the host recognizes duplicates.
   *
   * @param latest the position of the latest row, at least as far as the transport can tell
   */
  async begin(latest: number): Promise<number> {
    const stored = await this.#cursor.load();
    if (stored !== undefined && stored <= latest) return stored;
    if (stored !== undefined && stored > latest + limits.unseenRows)
      this.#context.logger.warn(
        "the database of Messages was replaced; reading continues after its latest message",
      );
    await this.#cursor.advance(latest, async () => "ignored");
    return latest;
  }

  /** Returns false if the host rejected the row. It and the following ones must then be read again after `begin`. */
  async receive(row: Row): Promise<boolean> {
    return (await this.#cursor.advance(row.position, () => this.#emit(row))) !== "rejected";
  }

  async #emit(row: Row): Promise<HandleResult> {
    const { clock, logger } = this.#context;
    this.#services.noteChat(row);
    if (clock.now() - row.at > limits.maxAgeMs) {
      logger.info("skipped a message that is older than a day");
      return "ignored";
    }
    const facts = eventFacts(this.#context, this.#services.botId);
    const isFromMe = row.isFromMe || this.#services.isOwn(row.guid);
    try {
      return await emitAll(this.#context, toEvents({ ...row, isFromMe }, facts));
    } catch (error) {
      logger.warn("a message could not be stored yet", { reason: reasonOf(error) });
      return "rejected";
    }
  }
}
