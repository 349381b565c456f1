import { appMention, changed, textMessage as slackMessage } from "@signalbox/testkit/slack";
import { person, startTelegram, textMessage, update } from "@signalbox/testkit/telegram";
import { expect, it, onTestFinished } from "vitest";
import {
  GENERAL as DISCORD_GENERAL,
  PERSON as DISCORD_PERSON,
  openDiscord,
} from "../support/discord-talk.ts";
import { exampleConfig, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { GENERAL, openSlack, PERSON, textsIn } from "../support/slack-talk.ts";

const token = "42:secret-of-the-bot-0123456789";

async function openTelegram() {
  const world = await openWorld();
  const telegram = await startTelegram({ token, users: [person] });
  onTestFinished(() => telegram.stop());
  const account = { botToken: token, apiBaseUrl: telegram.url };
  const access = { dm: "open", groups: { mode: "open" } };
  world.configure(exampleConfig({ channels: { telegram: { accounts: { main: account } } }, access }));
  const started = await world.start();
  return { world, telegram, started };
}

it("a live location on Telegram is one message, and the next run sees its latest position", async () => {
  const { world, telegram, started } = await openTelegram();
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  world.script(async (_, index) => {
    if (index === 0) {
      reached.resolve();
      await goOn.promise;
    }
    return { text: `answer ${index}` };
  });
  const at = (latitude: number) => ({
    text: undefined,
    location: { latitude, longitude: 20.5, live_period: 900 },
  });
  const first = textMessage("", { messageId: 501, fields: at(10) });
  await telegram.push(first);
  await reached.promise;
  for (const latitude of [11, 12, 13])
    await telegram.push(
      update("edited_message", {
        ...Object(first)["message"],
        ...at(latitude),
        edit_date: 1_760_000_000 + latitude,
      }),
    );
  goOn.resolve();
  await started.settled();
  expect(telegram.sent.map(({ text }) => text)).toEqual(["answer 0"]);
  expect(modelRequests(world.anthropic)).toHaveLength(1);
  await telegram.push(textMessage("where am I?"));
  await started.settled();
  expect(modelRequests(world.anthropic).at(-1)?.messages.at(-1)?.text).toContain("[location: 13, 20.5]");
});

it("a mention on Slack that is added by an edit is answered once, in a thread of its message", async () => {
  const { world, slack, deliver } = await openSlack();
  world.script((_, index) => ({ text: `answer ${index}` }));
  const [ts, clientMsgId] = ["1795931000.000100", "c-1"];
  const message = { ts, clientMsgId, user: PERSON, channelType: "channel", channel: GENERAL } as const;
  await deliver(slackMessage("when is the fair?", message));
  expect(textsIn(slack, GENERAL)).toEqual([]);
  const edit = changed("<@U_BOT> when is the fair?", "when is the fair?", message);
  await deliver(edit);
  await deliver(appMention(slackMessage("<@U_BOT> when is the fair?", message)));
  expect(slack.sent.map(({ threadTs, shown }) => [threadTs, shown.at(-1)])).toEqual([[ts, "answer 0"]]);
  await deliver(changed("<@U_BOT> when is the fair??", "<@U_BOT> when is the fair?", message));
  expect(modelRequests(world.anthropic)).toHaveLength(1);
});

it("a mention on Discord that is added by an edit is answered once", async () => {
  const { world, discord, started } = await openDiscord();
  world.script((_, index) => ({ text: `answer ${index}` }));
  const content = "when is the fair?";
  const message = discord.plant({ channelId: DISCORD_GENERAL, authorId: DISCORD_PERSON, content });
  discord.gateway.dispatch("MESSAGE_CREATE", discord.eventOf(message));
  for (const [index, edited] of ["<@1000> when is the fair?", "<@1000> when is the fair??"].entries()) {
    const version = discord.plant({ ...message, authorId: DISCORD_PERSON, content: edited, more: {} });
    const editedAt = new Date(Date.now() + index * 1_000).toISOString();
    discord.gateway.dispatch("MESSAGE_UPDATE", { ...discord.eventOf(version), edited_timestamp: editedAt });
    await expect.poll(() => discord.sent.length).toBe(1);
    await started.settled();
  }
  expect(discord.sent.map(({ content }) => content)).toEqual(["answer 0"]);
  expect(modelRequests(world.anthropic)).toHaveLength(1);
});
