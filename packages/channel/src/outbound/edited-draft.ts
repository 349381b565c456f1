import { isDeepStrictEqual } from "node:util";
import { ChannelError, isChannelError } from "../contract/errors.ts";
import type {
  Draft,
  DraftOptions,
  FinalizeOptions,
  Outbound,
  OutboundPart,
  Receipt,
  SendOptions,
} from "../contract/messages.ts";
import { getPartKey, withReceipt } from "./parts.ts";

/** A platform's operations on the message of a draft. `Content` is a text in the platform's format. */
export interface EditedDraftPlatform<Content> {
  /** Renders a text and truncates it to the limit of one message. */
  snapshot(text: string): Content;
  /** Renders the final part. @throws ChannelError `unsupported` if a draft cannot become such a part */
  render(part: OutboundPart): Content;
  /** Creates the message and returns its id. The same key returns the same message. */
  create(
    content: Content,
    options: { readonly key: string; readonly replyTo: string | undefined },
  ): Promise<string>;
  change(messageId: string, content: Content): Promise<void>;
  remove(messageId: string): Promise<void>;
  /** Sends the parts after the first one. */
  sendRest(
    message: Outbound,
    options: Pick<SendOptions, "idempotencyKey" | "onPart" | "openMedia" | "startAt">,
  ): Promise<Receipt>;
}

/**
 * Creates a draft on a platform that supports editing messages. The first text creates the message, later ones change
 * it, and `finalize` turns it into the first part of the finished message. Changes run one at a time, and pending ones
 * are merged.
 */
export function createEditedDraft<Content>(
  platform: EditedDraftPlatform<Content>,
  options: DraftOptions,
): Draft {
  return new EditedDraft(platform, options);
}

class EditedDraft<Content> implements Draft {
  readonly #platform: EditedDraftPlatform<Content>;
  readonly #options: DraftOptions;
  #messageId: string | undefined;
  #state: "open" | "finished" | "aborted" = "open";
  /** The content of the message. Undefined if an earlier attempt or process may have written different content. */
  #content: Content | undefined;
  #wasAttempted = false;
  /** Every change of the message waits for the previous ones. */
  #last: Promise<unknown> = Promise.resolve();
  #waiting: { content: Content; done: Promise<void> } | undefined;

  constructor(platform: EditedDraftPlatform<Content>, options: DraftOptions) {
    this.#platform = platform;
    this.#options = options;
    this.#messageId = options.messageId;
  }

  get messageId(): string | undefined {
    return this.#messageId;
  }

  async update(snapshot: string): Promise<void> {
    if (this.#state !== "open" || snapshot.trim() === "") return;
    const next = this.#platform.snapshot(snapshot);
    if (this.#waiting !== undefined) {
      this.#waiting.content = next;
      return this.#waiting.done;
    }
    const turn = { content: next, done: Promise.resolve() };
    this.#waiting = turn;
    turn.done = this.#inTurn(async () => {
      this.#waiting = undefined;
      // The update could overwrite the finished message.
      if (this.#options.signal.aborted || this.#state !== "open") return;
      if (!this.#holds(turn.content)) await this.#put(turn.content);
    });
    return turn.done;
  }

  finalize(
    message: Outbound,
    how: FinalizeOptions = { idempotencyKey: this.#options.idempotencyKey },
  ): Promise<Receipt> {
    return this.#inTurn(async () => {
      if (this.#state !== "open") throw new ChannelError("invalid", "The draft is finished");
      const [part] = message.parts;
      if (part === undefined) throw new ChannelError("invalid", "An empty message");
      const final = this.#platform.render(part);
      // An earlier process may have created the message with this key, so its content is unknown.
      if (this.#messageId === undefined) this.#wasAttempted = true;
      const first = { index: 0, messageId: await this.#put(final) };
      this.#state = "finished";
      await how.onPart?.(first);
      const rest = await withReceipt([first], () => this.#platform.sendRest(message, { ...how, startAt: 1 }));
      return { parts: [first, ...rest.parts] };
    });
  }

  abort(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#state !== "open") return;
      // Repeating the request reveals whether the message exists.
      if (this.#messageId === undefined && this.#wasAttempted) await this.#put(this.#platform.snapshot("…"));
      if (this.#messageId !== undefined) await this.#platform.remove(this.#messageId).catch(unlessGone);
      this.#state = "aborted";
    });
  }

  #holds(content: Content): boolean {
    return this.#content !== undefined && isDeepStrictEqual(this.#content, content);
  }

  async #put(next: Content): Promise<string> {
    const { idempotencyKey, replyTo } = this.#options;
    if (this.#messageId === undefined) {
      const isRepeated = this.#wasAttempted;
      this.#wasAttempted = true;
      this.#messageId = await this.#platform.create(next, { key: getPartKey(idempotencyKey, 0), replyTo });
      // The message may be from an earlier attempt and contain an older text.
      this.#content = isRepeated ? undefined : next;
    }
    if (!this.#holds(next)) await this.#platform.change(this.#messageId, next);
    this.#content = next;
    return this.#messageId;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result.catch(() => {});
    return result;
  }
}

function unlessGone(error: unknown): void {
  if (!isChannelError(error) || error.code !== "not_found") throw error;
}
