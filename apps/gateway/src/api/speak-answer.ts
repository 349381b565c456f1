import { reasonOf } from "@signalbox/agent-core";
import { eventBase, type MessageEvent } from "@signalbox/channel";
import type { ConversationHistory, SpokenMessage } from "@signalbox/protocol";
import { ApiError, type Principal } from "@signalbox/server";
import type { GatewayContext } from "../context.ts";
import { toSender } from "./client-message.ts";

/** An answer in a conversation of the web page. */
interface WebAnswer {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly conversation: string;
  readonly messageId: string;
  readonly history: ConversationHistory;
}

/**
 * Speaks an answer for a client of the web page, which pays for it.
 *
 * @throws ApiError `not_found` if the history has no such answer, `conflict` if it cannot be spoken
 */
export async function speakAnswer(
  ctx: GatewayContext,
  { agentId, sessionKey, conversation, messageId, history }: WebAnswer,
  client: Principal,
): Promise<SpokenMessage> {
  const answer = history.messages.find(({ id, role }) => id === messageId && role === "assistant");
  const agent = ctx.config.current().agents.at(agentId, sessionKey);
  if (answer === undefined || agent === undefined)
    throw new ApiError("not_found", `There is no answer ${messageId}.`);
  const role = client.role === "owner" ? "owner" : "member";
  try {
    const reader = { event: createEvent(conversation, client, ctx.now()), role } as const;
    const { mimeType, bytes } = await ctx.speech.read(
      agent,
      reader,
      answer.text,
      new AbortController().signal,
    );
    return { mimeType, data: Buffer.from(bytes).toString("base64") };
  } catch (error) {
    throw new ApiError("conflict", `The answer cannot be spoken: ${ctx.redact(reasonOf(error))}`);
  }
}

/** Returns an event whose sender is the client, as in its messages, so that the same budgets apply. */
function createEvent(conversation: string, client: Principal, now: number): MessageEvent {
  const sender = { ...toSender(client), isBot: false, isSelf: false };
  const place = { conversation: { id: conversation, kind: "direct" }, address: conversation } as const;
  return {
    ...eventBase("web", { account: "web", now, raw: false }, { ...place, eventId: "speech", sender }),
    type: "message",
    messageId: "speech",
    text: "",
    media: [],
    mentions: [],
  };
}
