import { groupId, groupMention, inGroup, person, startDingTalk, textMessage } from "../../dingtalk/index.ts";
import type { Raw } from "../../raw.ts";
import { type PlatformEvent, platformEvents } from "../scenario.ts";
import type { StartPlatform } from "./platform.ts";

const CREDENTIALS = { clientId: "dingstandin", clientSecret: "standin-secret-of-the-app" };
/** Maximum time until the gateway has acknowledged a message, in milliseconds. */
const WAIT_MS = 10_000;

/** DingTalk, which delivers messages over the account's connection. An unacknowledged message counts as refused. */
export const startDingTalkPlatform: StartPlatform = async (scenario) => {
  const names = new Map(Object.entries(scenario.people["dingtalk"] ?? {}));
  const groups = platformEvents(scenario).flatMap(({ chatId = groupId }) => [chatId]);
  const dingtalk = await startDingTalk({ ...CREDENTIALS, users: [person.staffId, ...names.keys()], groups });
  return {
    env: {
      DINGTALK_URL: dingtalk.url,
      DINGTALK_CLIENT_ID: CREDENTIALS.clientId,
      DINGTALK_CLIENT_SECRET: CREDENTIALS.clientSecret,
    },
    async post(event) {
      const sent = event.body ?? createMessage(event, names);
      return { sent, status: (await pushWhenConnected(dingtalk.stream, sent)) ? 200 : 503 };
    },
    sent: () =>
      dingtalk.requests
        .filter(({ path }) =>
          /\/(?:batchSend|groupMessages\/send|createAndDeliver|card\/instances)$/.test(path),
        )
        .map(({ method, path, text }) => ({ channel: "dingtalk", method, path, body: text })),
    stop: () => dingtalk.stop(),
  };
};

function createMessage(event: PlatformEvent, names: ReadonlyMap<string, string>): Raw {
  const { messageId, sender = person.staffId, chatType, chatId, mention, text = "" } = event;
  const options = {
    msgId: messageId,
    sender: { staffId: sender, id: `$:LWCP_v1:$${sender}`, nick: names.get(sender) ?? "" },
  };
  if (chatType !== "group")
    return textMessage(text, { ...options, conversationId: chatId ?? `cid-${sender}` });
  if (mention === true) return groupMention(text, { ...options, conversationId: chatId });
  return { ...inGroup(textMessage(text, options), chatId), isInAtList: false, atUsers: [] };
}

/** Waits for the account's connection, because the gateway is ready before it is open. */
async function pushWhenConnected(
  stream: Awaited<ReturnType<typeof startDingTalk>>["stream"],
  message: unknown,
): Promise<boolean> {
  const deadline = Date.now() + WAIT_MS;
  while (stream.count() === 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 10));
  return stream.push(message, { withinMs: WAIT_MS }).catch(() => false);
}
