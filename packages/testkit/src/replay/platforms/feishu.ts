import { type FakeFeishu, groupMention, startFeishu, textMessage } from "../../feishu/index.ts";
import type { PlatformEvent, Scenario } from "../scenario.ts";
import type { StartPlatform } from "./platform.ts";

const APP = {
  appId: "cli_fake",
  appSecret: "standin-app-secret",
  token: "standin-verification",
  encryptKey: "standin-encrypt-key",
};

/** Starts Feishu, which posts its events to the gateway. */
export const startFeishuPlatform: StartPlatform = async (scenario) => {
  const feishu = await startFeishu({
    appId: APP.appId,
    appSecret: APP.appSecret,
    verificationToken: APP.token,
    users: Object.fromEntries(
      Object.entries(scenario.people["feishu"] ?? {}).map(([id, name]) => [id, { name }]),
    ),
  });
  return {
    env: {
      FEISHU_URL: feishu.url,
      FEISHU_APP_ID: APP.appId,
      FEISHU_APP_SECRET: APP.appSecret,
      FEISHU_TOKEN: APP.token,
      FEISHU_ENCRYPT_KEY: APP.encryptKey,
    },
    async post(event, { url }) {
      const body = event.body ?? bodyOf(event, feishu);
      const account = accountConfig(scenario, event);
      const response = await feishu.postEvent(`${url}/channels/feishu/${event.account}/events`, body, {
        token: APP.token,
        encryptKey: account["encryptKey"] === undefined ? undefined : APP.encryptKey,
      });
      await response.text();
      return { sent: body, status: response.status };
    },
    sent: () =>
      feishu.requests
        .filter(({ method, path }) => method === "POST" && path.startsWith("/open-apis/im/v1/messages"))
        .map(({ method, path, text }) => ({
          channel: "feishu",
          method,
          path: path.split("?")[0] ?? path,
          body: text,
        })),
    stop: () => feishu.stop(),
  };
};

function bodyOf(event: PlatformEvent, feishu: FakeFeishu): unknown {
  const options = {
    eventId: event.eventId,
    messageId: event.messageId,
    chatId: event.chatId,
    senderId: event.sender,
    chatType: event.chatType,
  };
  return event.mention === true
    ? groupMention(event.text ?? "", feishu.bot, options)
    : textMessage(event.text ?? "", options);
}

function accountConfig(scenario: Scenario, event: PlatformEvent): Readonly<Record<string, unknown>> {
  const at = (value: unknown, key: string): unknown =>
    value !== null && typeof value === "object" && key in value
      ? Object.entries(value).find(([name]) => name === key)?.[1]
      : undefined;
  const account = at(at(at(at(scenario.config, "channels"), event.channel), "accounts"), event.account);
  return account !== null && typeof account === "object" ? Object.fromEntries(Object.entries(account)) : {};
}
