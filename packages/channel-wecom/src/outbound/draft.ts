import {
  type ChannelContext,
  ChannelError,
  createEditedDraft,
  type Draft,
  type DraftOptions,
} from "@signalbox/channel";
import { parseMessageId, type WecomAddress } from "../address.ts";
import { isStreamEnded } from "../errors.ts";
import { limits } from "../limits.ts";
import { renderPart, renderSnapshot } from "./markdown.ts";
import { getReqId, type Sender, type StreamFrame } from "./send.ts";

/** The text of a message whose draft was aborted. WeCom cannot delete messages, and ignores an empty text. */
const ABORTED_TEXT = "…";

/**
 * Creates a draft: a stream whose id is the draft's key. WeCom shows each frame in place of the previous one.
 *
 * @throws ChannelError `unsupported` if the draft is not a reply to a recent message
 */
export function createDraft(
  { clock, sender }: Pick<ChannelContext, "clock"> & { readonly sender: Sender },
  to: WecomAddress,
  options: DraftOptions,
): Draft {
  const { replyTo, signal } = options;
  const reqId = getReqId(replyTo, clock.now());

  /** Returns true if a refused update means that the message has already been finished. */
  function isFinished(id: string): boolean {
    if (sender.hasTriedToFinish(id)) return true;
    // An earlier process may have finished it. A young stream cannot have expired.
    const { sentAt } = parseMessageId(replyTo ?? "");
    return clock.now() - sentAt < limits.streamWindowMs;
  }

  async function put(id: string, frame: Omit<StreamFrame, "id">): Promise<void> {
    const wasFinished = isFinished(id);
    try {
      await sender.putStream(reqId, { id, ...frame }, signal);
    } catch (error) {
      if (!isStreamEnded(error)) throw error;
      if (frame.finish && wasFinished) return;
      throw new ChannelError("unsupported", "WeCom: the draft can no longer be changed", { cause: error });
    }
  }

  return createEditedDraft<Omit<StreamFrame, "id">>(
    {
      snapshot: (text) => ({ content: renderSnapshot(text), finish: false }),
      render: (part) => ({ content: renderPart(part), finish: true }),
      async create(frame, { key }) {
        await put(key, frame);
        return key;
      },
      change: put,
      remove: (id) => put(id, { content: ABORTED_TEXT, finish: true }),
      sendRest: (message, how) => sender.send(to, message, { ...how, signal }),
    },
    options,
  );
}
