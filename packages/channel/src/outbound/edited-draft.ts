import { isDeepStrictEqual } from "node:util";
import { ChannelError, isChannelError } from "../contract/errors.ts";
import type {
  Draft,
  DraftOptions,
  Outbound,
  OutboundPart,
  Receipt,
  SendOptions,
} from "../contract/messages.ts";
import { carryingReceipt, partKey } from "./send-parts.ts";

/** What a platform does with the one message that is a draft. `Content` is what it takes as text. */
export interface EditedDraftPlatform<Content> {
  /** A text as far as one message holds it. */
  snapshot(text: string): Content;
  /** @throws ChannelError `unsupported` where a part of this kind cannot be the end of a draft */
  render(part: OutboundPart): Content;
  /** Makes the message; the same key again gives the same message. Resolves with its id. */
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
 * A draft on a platform where messages can be edited: made at the first text, changed as it grows, and in the end the
 * first part of the finished message. Changes are carried out one after the other, and those that wait coalesce.
 */
export function createEditedDraft<Content>(
  platform: EditedDraftPlatform<Content>,
  options: DraftOptions,
): Draft {
  const { idempotencyKey, replyTo, signal } = options;
  let messageId = options.messageId;
  let state: "open" | "finished" | "aborted" = "open";
  /** What the message holds. Undefined where an earlier try or process may have put something else there. */
  let content: Content | undefined;
  let wasTried = false;
  /** Everything that changes the message waits for what came before it. */
  let last: Promise<unknown> = Promise.resolve();
  let waiting: { content: Content; done: Promise<void> } | undefined;

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work, work);
    last = result.catch(() => {});
    return result;
  }

  async function put(next: Content): Promise<string> {
    if (messageId === undefined) {
      const isRepeated = wasTried;
      wasTried = true;
      messageId = await platform.create(next, { key: partKey(idempotencyKey, 0), replyTo });
      // A try that was thought lost may be the message that is there, with the text of then.
      content = isRepeated ? undefined : next;
    }
    if (content === undefined || !isDeepStrictEqual(content, next)) await platform.change(messageId, next);
    content = next;
    return messageId;
  }

  return {
    get messageId() {
      return messageId;
    },

    async update(snapshot) {
      if (state !== "open" || snapshot.trim() === "") return;
      const next = platform.snapshot(snapshot);
      if (waiting !== undefined) {
        waiting.content = next;
        return waiting.done;
      }
      const turn = { content: next, done: Promise.resolve() };
      waiting = turn;
      turn.done = inTurn(async () => {
        waiting = undefined;
        // Nobody waits for it any more, and it could come after what finishes the draft.
        if (signal.aborted || state !== "open") return;
        if (content === undefined || !isDeepStrictEqual(content, turn.content)) await put(turn.content);
      });
      return turn.done;
    },

    finalize(message, how = { idempotencyKey }) {
      return inTurn(async () => {
        if (state !== "open") throw new ChannelError("invalid", "The draft is finished");
        const [part] = message.parts;
        if (part === undefined) throw new ChannelError("invalid", "An empty message");
        const final = platform.render(part);
        // An earlier process may have made it under this key: what counts now has to be put there in any case.
        if (messageId === undefined) wasTried = true;
        const first = { index: 0, messageId: await put(final) };
        state = "finished";
        await how.onPart?.(first);
        const rest = await carryingReceipt([first], () => platform.sendRest(message, { ...how, startAt: 1 }));
        return { parts: [first, ...rest.parts] };
      });
    },

    abort() {
      return inTurn(async () => {
        if (state !== "open") return;
        // Whether a try got through shows when it is made again.
        if (messageId === undefined && wasTried) await put(platform.snapshot("…"));
        if (messageId !== undefined) await platform.remove(messageId).catch(unlessGone);
        state = "aborted";
      });
    },
  };
}

function unlessGone(error: unknown): void {
  if (!isChannelError(error) || error.code !== "not_found") throw error;
}
