import { channelMention, type SlackDelivery, startSlack, textMessage } from "../../slack/index.ts";
import type { PlatformEvent } from "../scenario.ts";
import type { StartPlatform } from "./platform.ts";

const TOKENS = {
  botToken: "xoxb-standin-bot-token",
  appToken: "xapp-standin-app-token",
  signingSecret: "standin-signing-secret",
};

/** Slack, which sends events over the account's sockets if there are any and posts them otherwise. */
export const startSlackPlatform: StartPlatform = async (scenario) => {
  const people = Object.entries(scenario.people["slack"] ?? {});
  const slack = await startSlack({
    ...TOKENS,
    users: Object.fromEntries(people.map(([id, name]) => [id, { name }])),
  });
  return {
    env: {
      SLACK_URL: slack.apiUrl,
      SLACK_BOT_TOKEN: TOKENS.botToken,
      SLACK_APP_TOKEN: TOKENS.appToken,
      SLACK_SIGNING_SECRET: TOKENS.signingSecret,
    },
    async post(event, { url }) {
      const delivery = deliveryOf(event, slack.bot.userId);
      const sent = delivery.body;
      if (slack.sockets.count() > 0) return { sent, status: (await slack.pushEvent(delivery)) ? 200 : 503 };
      const response = await slack.postEvent(`${url}/channels/slack/${event.account}/events`, delivery);
      await response.text();
      return { sent, status: response.status };
    },
    sent: () =>
      slack.requests
        .filter(({ path }) => /\/chat\.(?:postMessage|startStream)$/.test(path))
        .map(({ method, path, text }) => ({
          channel: "slack",
          method,
          path,
          body: JSON.stringify(Object.fromEntries(new URLSearchParams(text))),
        })),
    stop: () => slack.stop(),
  };
};

function deliveryOf(event: PlatformEvent, bot: string): SlackDelivery {
  if (event.body !== undefined) return { type: "events_api", body: event.body };
  const { eventId, messageId, chatId, sender, text = "" } = event;
  const options = {
    channelType: event.chatType === "group" ? "channel" : "im",
    eventId,
    ts: messageId,
    channel: chatId,
    user: sender,
  } as const;
  return event.mention === true ? channelMention(text, bot, options) : textMessage(text, options);
}
