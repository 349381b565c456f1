import {
  getPartKey,
  isChannelError,
  isRetryable,
  type OutboundPart,
  type ReconcileResult,
  type SendIntent,
} from "@signalbox/channel";
import { formatMessageId, type TelegramAddress } from "../address.ts";
import type { TelegramApi } from "../api.ts";
import { limits } from "../limits.ts";
import type { Supergroups } from "../supergroups.ts";
import type { MessageIds } from "./message-ids.ts";
import { type RenderSettings, renderText } from "./render.ts";
import { listContentFields } from "./send.ts";

interface Sources {
  readonly api: TelegramApi;
  readonly supergroups: Pick<Supergroups, "toCurrent">;
  readonly ids: MessageIds;
  readonly settings: RenderSettings;
}

/**
 * `own`: the message itself. `other`: a message that the bot cannot edit. `changed`: another message, which the edit
 * has changed. `none`: no message.
 */
type Probe = "own" | "other" | "none" | "changed";

/**
 * Looks for a message with an unknown outcome. Telegram has no readable history. But the response to an edit that
 * changes nothing shows if a message exists: `message is not modified`, or `message to edit not found`. So the ids that
 * the message can have are probed with its own content. Messages with known ids are skipped, because the edit would
 * change them. After a restart no ids are known, so nothing is probed. Nothing is probed either if another message to
 * the same chat, for instance to another topic, has no known id yet. New sends to the chat wait until the lookup ends.
 */
export async function reconcile(
  sources: Sources,
  intent: SendIntent<TelegramAddress>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const to = await sources.supergroups.toCurrent(intent.to);
  return sources.ids.lookUp(to.chatId, () => probeIds(sources, { ...intent, to }, signal));
}

async function probeIds(
  sources: Sources,
  { to, content, idempotencyKey, part }: SendIntent<TelegramAddress>,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { ids } = sources;
  const key = getPartKey(idempotencyKey, part);
  if (ids.hasOthers(key, to.chatId)) return { outcome: "unknown" };
  const floor = ids.floorOf(key);
  const probe = createProbe(sources, to, content, signal);
  if (floor === undefined || probe === undefined) return { outcome: "unknown" };
  const limit = floor + limits.probedIds;
  let last = ids.ceilingOf(to.chatId);
  for (let id = floor + 1; id <= Math.min(last, limit); id += 1) {
    if (ids.isKnown(to.chatId, id)) continue;
    switch (await probe(id)) {
      case "own":
        ids.end(key);
        return { outcome: "sent", messageId: formatMessageId(to.chatId, id) };
      case "changed":
        return { outcome: "unknown" };
      case "other":
        // The bot does not receive every message in a group, for instance in privacy mode.
        last = Math.max(last, id + limits.unseenIds);
        break;
      case "none":
        break;
    }
  }
  return { outcome: last <= limit ? "not_sent" : "unknown" };
}

/** Returns `undefined` for buttons, whose keyboard cannot be rendered again without a change. */
function createProbe(
  { api, settings }: Sources,
  to: TelegramAddress,
  part: OutboundPart,
  signal: AbortSignal,
): ((id: number) => Promise<Probe>) | undefined {
  const options = { what: "looking for a message", write: false, signal };
  const place = (id: number) => ({ chat_id: to.chatId, message_id: id });
  switch (part.type) {
    case "text":
    case "markdown": {
      const contents = listContentFields(renderText(part, settings));
      return async (id) => {
        let probed: Probe = "other";
        for (const content of contents) {
          probed = await answerOf(
            api.call(options, (raw) => raw.editMessageText({ ...place(id), ...content })),
          );
          if (probed !== "other") break;
        }
        return probed;
      };
    }
    case "media":
    case "poll":
      return (id) => answerOf(api.call(options, (raw) => raw.editMessageReplyMarkup(place(id))));
    case "buttons":
      return undefined;
  }
}

/** @throws ChannelError if Telegram cannot be reached */
async function answerOf(edit: Promise<unknown>): Promise<Probe> {
  try {
    await edit;
    return "changed";
  } catch (error) {
    if (isRetryable(error)) throw error;
    const reason = isChannelError(error) ? error.message : "";
    if (reason.includes("message is not modified")) return "own";
    return reason.includes("message to edit not found") ? "none" : "other";
  }
}
