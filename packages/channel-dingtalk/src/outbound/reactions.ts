import { isChannelError } from "@signalbox/channel";
import { parseMessageId } from "../address.ts";
import type { DingTalkApi } from "../api.ts";

/** The look of a reaction that shows a text. Source: DingTalk's connector for OpenClaw. */
const STYLE = { emotionId: "2659900", backgroundId: "im_bg_1" };

/** Adds a reaction to a message, or removes it. DingTalk shows reactions of bots as short texts, which may be emoji. */
export async function react(
  api: DingTalkApi,
  messageId: string,
  { emoji, on }: { readonly emoji: string; readonly on: boolean },
  signal: AbortSignal,
): Promise<void> {
  const { conversationId, msgId } = parseMessageId(messageId);
  const body = {
    robotCode: api.robotCode,
    openMsgId: msgId,
    openConversationId: conversationId,
    emotionType: 2,
    emotionName: emoji,
    textEmotion: { ...STYLE, emotionName: emoji, text: emoji },
  };
  const path = `/v1.0/robot/emotion/${on ? "reply" : "recall"}`;
  try {
    await api.call({ what: on ? "reacting" : "removing a reaction", path, body, write: false, signal });
  } catch (error) {
    // The reaction does not exist.
    if (on || !isChannelError(error) || error.code !== "not_found") throw error;
  }
}
