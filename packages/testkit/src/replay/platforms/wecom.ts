import type { Raw } from "../../raw.ts";
import { startWecom, textMessage } from "../../wecom/index.ts";
import type { PlatformEvent } from "../scenario.ts";
import type { StartPlatform } from "./platform.ts";
import { hasMessage, until } from "./stored-message.ts";

const BOT_ID = "aib-standin";
const SECRET = "standin-secret-of-the-bot";
const GROUP = "wrStandinGroup";

/** WeCom, to which the account connects. A message is delivered once the gateway has stored it. */
export const startWecomPlatform: StartPlatform = async () => {
  const wecom = await startWecom({ botId: BOT_ID, secret: SECRET });
  let count = 0;
  return {
    env: {
      WECOM_URL: wecom.url,
      WECOM_WS_URL: wecom.wsUrl,
      WECOM_BOT_ID: BOT_ID,
      WECOM_SECRET: SECRET,
    },
    async post(event, gateway) {
      count += 1;
      const msgid = event.messageId ?? `message-${count}`;
      const sent = event.body ?? createMessage(event, msgid);
      await until(() => wecom.connections() > 0);
      wecom.pushMessage(sent, `req-${count}`);
      const prefix = `${encodeURIComponent(String(sent["msgid"]))}:`;
      const isStored = await until(() => hasMessage(gateway, (id) => id.startsWith(prefix)));
      return { sent, status: isStored ? 200 : 503 };
    },
    sent: () =>
      wecom.frames
        .filter(({ cmd, body }) => cmd === "aibot_send_msg" || isFinished(body))
        .map(({ cmd, text }) => ({ channel: "wecom", method: cmd, path: "/", body: text })),
    stop: () => wecom.stop(),
  };
};

/** Returns true for the last frame of a stream. Earlier ones show the answer while it is written. */
function isFinished({ stream }: Raw): boolean {
  return typeof stream === "object" && stream !== null && "finish" in stream && stream.finish === true;
}

/** WeCom delivers messages of groups only if they mention the bot. */
function createMessage(
  { sender = "zhangsan", chatType, chatId = GROUP, mention, text = "" }: PlatformEvent,
  msgid: string,
): Raw {
  const group = chatType === "group" ? { chatId } : {};
  return textMessage(mention === true ? `@Bot ${text}` : text, { msgid, from: sender, ...group });
}
