import {
  type Clock,
  createEditedDraft,
  type Draft,
  type DraftOptions,
  fitText,
  TokenBuckets,
} from "@signalbox/channel";
import { isPrivateChat, type TelegramAddress } from "../address.ts";
import { limits } from "../limits.ts";
import { toTelegram } from "./markdown.ts";
import { type Rendered, type RenderSettings, renderText } from "./render.ts";
import type { Sender } from "./send.ts";

/**
 * Creates drafts: messages that are edited as they grow, within their chat's edit rate. Telegram's own drafts are not
 * used, because they expire after 30 seconds and exist only in private chats.
 */
export function createDrafts(
  sender: Sender,
  clock: Clock,
  settings: RenderSettings,
): (to: TelegramAddress, options: DraftOptions) => Draft {
  const buckets = new TokenBuckets(() => clock.now());

  return (to, options) => {
    const { signal } = options;
    const rule = {
      perSecond: 1_000 / limits.editEveryMs[isPrivateChat(to.chatId) ? "private" : "group"],
      burst: 1,
    };
    /** Aborted when the draft ends, because the final text does not wait for the edit rate. */
    const ending = new AbortController();
    const hurried = AbortSignal.any([signal, ending.signal]);

    async function turn(): Promise<void> {
      const waitMs = hurried.aborted ? 0 : buckets.reserve(to.chatId, rule);
      if (waitMs > 0) await clock.delay(waitMs, hurried).catch(() => {});
    }

    const draft = createEditedDraft<Rendered>(
      {
        snapshot: (text) => toTelegram(fitText(text, { max: limits.partLength, unit: "utf16" })),
        render: (part) => renderText(part, settings),
        async create(content, { replyTo }) {
          await turn();
          return sender.sendText(to, content, { replyTo, signal });
        },
        async change(messageId, content) {
          await turn();
          await sender.changeText(to, messageId, content, signal);
        },
        remove: (messageId) => sender.remove(to, messageId, signal),
        sendRest: (message, how) => sender.send(to, message, { ...how, signal }),
      },
      options,
    );
    return {
      get messageId() {
        return draft.messageId;
      },
      update: (snapshot) => draft.update(snapshot),
      finalize(message, how) {
        ending.abort();
        return draft.finalize(message, how);
      },
      abort() {
        ending.abort();
        return draft.abort();
      },
    };
  };
}
