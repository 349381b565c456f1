import { FakeMessages } from "../../imessage/database.ts";
import { startImsg } from "../../imessage/imsg.ts";
import { platformEvents } from "../scenario.ts";
import type { StartPlatform } from "./platform.ts";
import { hasMessage, until } from "./stored-message.ts";

const GROUP = "chat100000000000000001";
const PERSON = "+4915100000001";

/** Messages on a Mac with imsg. A message is delivered once the gateway has stored it. */
export const startIMessagePlatform: StartPlatform = async (scenario) => {
  const groups = platformEvents(scenario).flatMap(({ chatType, chatId = GROUP }) =>
    chatType === "group" ? [chatId] : [],
  );
  const messages = new FakeMessages({ groups });
  const imsg = await startImsg({ messages });
  return {
    env: { IMESSAGE_COMMAND: imsg.command.join(" ") },
    async post({ body, messageId, sender = PERSON, chatType, chatId = GROUP, text = "" }, gateway) {
      await until(() => imsg.running().subscriptions > 0);
      const row = messages.say(text, {
        sender,
        guid: messageId,
        group: chatType === "group" ? chatId : undefined,
        replyTo: typeof body?.["replyTo"] === "string" ? body["replyTo"] : undefined,
      });
      const isStored = await until(() => hasMessage(gateway, (id) => id === row.guid));
      return { sent: { ...row }, status: isStored ? 200 : 503 };
    },
    sent: () =>
      messages.sent.map(({ chatGuid, text, replyTo }) => ({
        channel: "imessage",
        method: "send",
        path: chatGuid,
        body: JSON.stringify({ text, replyTo }),
      })),
    stop: () => imsg.stop(),
  };
};
