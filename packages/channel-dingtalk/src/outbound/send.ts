import {
  ChannelError,
  type Outbound,
  type Payload,
  type Receipt,
  type SendOptions,
  sendParts,
  textAt,
} from "@signalbox/channel";
import type { DingTalkAddress } from "../address.ts";
import type { DingTalkApi } from "../api.ts";
import { attach } from "../media.ts";
import { type Cards, createCardId } from "./cards.ts";
import { type Rendered, renderQuestion, renderText } from "./render.ts";

/** Sends messages, and questions with buttons as cards. All methods throw only `ChannelError`. */
export interface Sender {
  send(to: DingTalkAddress, message: Outbound, options: SendOptions): Promise<Receipt>;
  /** Takes messages back by their `processQueryKey`. @throws ChannelError `not_found` */
  recall(to: DingTalkAddress, key: string, signal: AbortSignal): Promise<void>;
}

export function createSender(api: DingTalkApi, cards: Cards): Sender {
  return {
    send: (to, message, options) =>
      sendParts(message, options, async ({ part, key }) => {
        const { signal } = options;
        if (part.type === "buttons") {
          const outTrackId = createCardId(key);
          await cards.create(to, outTrackId, renderQuestion(part), signal);
          return outTrackId;
        }
        const rendered = part.type === "media" ? await attach(api, part, options) : renderText(part);
        return post(api, to, rendered, signal);
      }),

    async recall(to, key, signal) {
      const [path, place] =
        "userId" in to
          ? ["/v1.0/robot/otoMessages/batchRecall", {}]
          : ["/v1.0/robot/groupMessages/recall", { openConversationId: to.conversationId }];
      const body = { robotCode: api.robotCode, processQueryKeys: [key], ...place };
      const answer = await api.call({ what: "taking a message back", path, body, write: false, signal });
      if (!includes(answer, "successResult", key))
        throw new ChannelError(
          "not_found",
          "DingTalk: the message does not exist or can no longer be taken back",
        );
    },
  };
}

/** Sends a message and returns its `processQueryKey`. */
async function post(
  api: DingTalkApi,
  to: DingTalkAddress,
  { msgKey, parameters }: Rendered,
  signal: AbortSignal,
): Promise<string> {
  const [path, place] =
    "userId" in to
      ? ["/v1.0/robot/oToMessages/batchSend", { userIds: [to.userId] }]
      : ["/v1.0/robot/groupMessages/send", { openConversationId: to.conversationId }];
  const body = { robotCode: api.robotCode, msgKey, msgParam: JSON.stringify(parameters), ...place };
  const answer = await api.call({ what: "sending a message", path, body, write: true, signal });
  if ("userId" in to) assertReceived(answer, to.userId);
  const key = textAt(answer, "processQueryKey");
  if (key === undefined)
    throw new ChannelError("unknown_outcome", "DingTalk: sending a message: the response contains no key");
  return key;
}

/** DingTalk responds with success even if no recipient is valid. */
function assertReceived(answer: Payload, userId: string): void {
  if (includes(answer, "invalidStaffIdList", userId))
    throw new ChannelError("not_found", "DingTalk: there is no such person in the organization", {
      scope: "conversation",
    });
  if (includes(answer, "flowControlledStaffIdList", userId))
    throw new ChannelError("rate_limited", "DingTalk: too many messages to this person", {
      scope: "conversation",
      retryAfterMs: 60_000,
    });
}

function includes(answer: Payload, key: string, value: string): boolean {
  const list = answer[key];
  return Array.isArray(list) && list.includes(value);
}
