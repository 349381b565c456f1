import {
  groupMention,
  groupMigration,
  person,
  startTelegram,
  textMessage,
} from "@signalbox/testkit/telegram";
import { expect, it, onTestFinished } from "vitest";
import { GENERAL, openDiscord, THREAD } from "../support/discord-talk.ts";
import { exampleConfig, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const token = "42:secret-of-the-bot-0123456789";
const GROUP = -5_001_234;
const SUPERGROUP = -1_001_234_567;

async function openTelegram(groups: Readonly<Record<string, unknown>> = { mode: "open" }) {
  const world = await openWorld();
  const telegram = await startTelegram({ token, users: [person] });
  onTestFinished(() => telegram.stop());
  const account = { botToken: token, apiBaseUrl: telegram.url };
  const access = { dm: "open", groups };
  world.configure(exampleConfig({ channels: { telegram: { accounts: { main: account } } }, access }));
  return { world, telegram, started: await world.start() };
}

it("an answer reaches the supergroup that replaced its group, and the conversation continues there", async () => {
  const { world, telegram, started } = await openTelegram({
    mode: "allowlist",
    allow: [`telegram:${GROUP}`],
  });
  const reached = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  world.script(async (_, index) => {
    if (index === 0) {
      reached.resolve();
      await goOn.promise;
    }
    return { text: `answer ${index}` };
  });
  const group = { id: GROUP, type: "group" } as const;
  const supergroup = { id: SUPERGROUP, type: "supergroup" } as const;
  await telegram.push(groupMention("first", "signalbox_bot", { chat: group }));
  await reached.promise;
  telegram.migrate(GROUP, SUPERGROUP);
  // The answer learns of the new id by its refusal, before the service messages say it.
  goOn.resolve();
  await started.settled();
  for (const update of groupMigration(GROUP, SUPERGROUP)) await telegram.push(update);
  await telegram.push(groupMention("second", "signalbox_bot", { chat: supergroup }));
  await started.settled();
  expect(telegram.sent.map(({ chatId, text }) => [chatId, text])).toEqual([
    [String(SUPERGROUP), "answer 0"],
    [String(SUPERGROUP), "answer 1"],
  ]);
  const texts =
    modelRequests(world.anthropic)
      .at(-1)
      ?.messages.map(({ text }) => text) ?? [];
  expect(texts).toHaveLength(3);
  expect(texts[0]).toContain("first");
  expect(texts[1]).toBe("answer 0");
});

it("an answer to a closed Telegram topic reaches the chat", async () => {
  const { world, telegram, started } = await openTelegram();
  world.script([{ text: "**the answer**" }]);
  telegram.refuseTopic(-1_001_234, 77, "closed");
  await telegram.push(groupMention("q", "signalbox_bot", { topicId: 77 }));
  await started.settled();
  expect(telegram.sent.map(({ text, topicId }) => [text, topicId])).toEqual([["the answer", undefined]]);
});

it("an answer with more links than Telegram formats in one message comes in two", async () => {
  const { world, telegram, started } = await openTelegram();
  const links = Array.from({ length: 101 }, (_, at) => `[${at + 1}](http://b.example/${at + 1})`).join(" ");
  world.script([{ text: links }]);
  await telegram.push(textMessage("links?"));
  await started.settled();
  const urls = telegram.sent.flatMap(({ entities }) => entities.map(({ url }) => url));
  expect(telegram.sent).toHaveLength(2);
  expect(new Set(urls).size).toBe(101);
});

it("an answer to a Discord thread that was deleted meanwhile reaches the channel around it", async () => {
  const { world, discord, say } = await openDiscord({
    config: { replies: { stream: "off", typing: false } },
  });
  world.script(() => {
    discord.deleteChannel(THREAD);
    return { text: "the answer" };
  });
  await say(THREAD, "<@1000> who?");
  expect(discord.sent.map(({ channelId, content }) => [channelId, content])).toEqual([
    [GENERAL, "the answer"],
  ]);
});
