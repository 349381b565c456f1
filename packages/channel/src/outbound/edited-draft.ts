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
import { carryingReceipt, partKey } from "./send-parts.ts";

/** What a platform does with the one message that is a draft. `Content` is what it takes as text. */
export interface EditedDraftPlatform<Content> {
  /** As much of a text as one message holds. */
  snapshot(text: string): Content;
  /** @throws ChannelError `unsupported` where a part of this kind cannot be the end of a draft */
  render(part: OutboundPart): Content;
  /** Creates the message; the same key again returns the same message. Resolves with its id. */
  create(
    content: Content,
    options: { readonly key: string; readonly replyTo: string | undefined },
  ): Promise<string>;
  change(messageId: string, content: Content): Promise<void>;
  remove(messageId: string): Promise<void>;
  /** The parts after the first. */
  sendRest(
    message: Outbound,
    options: Pick<SendOptions, "idempotencyKey" | "onPart" | "openMedia" | "startAt">,
  ): Promise<Receipt>;
}

/**
 * A draft on a platform where messages can be edited: created at the first text, changed as it grows, and finally the
 * first part of the finished message. Changes are made one after the other; waiting ones coalesce.
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
  /** What the message holds. Undefined where an earlier try or process may have put something else there. */
  #content: Content | undefined;
  #wasTried = false;
  /** Everything that changes the message waits for what came before it. */
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
      // Nobody waits for it any more, and it could come after what finishes the draft.
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
      // An earlier process may have made it under this key: what counts now has to be put there in any case.
      if (this.#messageId === undefined) this.#wasTried = true;
      const first = { index: 0, messageId: await this.#put(final) };
      this.#state = "finished";
      await how.onPart?.(first);
      const rest = await carryingReceipt([first], () =>
        this.#platform.sendRest(message, { ...how, startAt: 1 }),
      );
      return { parts: [first, ...rest.parts] };
    });
  }

  abort(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#state !== "open") return;
      // Whether a try got through shows when it is made again.
      if (this.#messageId === undefined && this.#wasTried) await this.#put(this.#platform.snapshot("…"));
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
      const isRepeated = this.#wasTried;
      this.#wasTried = true;
      this.#messageId = await this.#platform.create(next, { key: partKey(idempotencyKey, 0), replyTo });
      // A try that was thought lost may be the message that is there, with the text of then.
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
