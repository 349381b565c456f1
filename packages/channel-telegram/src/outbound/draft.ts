import {
  type Clock,
  createEditedDraft,
  type Draft,
  type DraftOptions,
  fitText,
  TokenBuckets,
} from "@signalbox/channel";
import { isPrivate, type TelegramAddress } from "../address.ts";
import { limits } from "../limits.ts";
import { toTelegram } from "./markdown.ts";
import { type Rendered, type RenderSettings, renderText } from "./render.ts";
import type { Sender } from "./send.ts";

/**
 * Opens drafts: messages that are edited as they grow, no faster than Telegram takes it in their chat. Telegram's own
 * drafts live 30 seconds and in private chats alone; a message stays.
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
      perSecond: 1_000 / limits.editEveryMs[isPrivate(to.chatId) ? "private" : "group"],
      burst: 1,
    };
    /** Fires when the draft ends: its last text waits for nothing. */
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
