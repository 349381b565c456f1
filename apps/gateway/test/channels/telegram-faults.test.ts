import { person, startTelegram, type TelegramFault, textMessage } from "@signalbox/testkit/telegram";
import { expect, it, onTestFinished } from "vitest";
import { eventually, exampleConfig, openWorld } from "../support/harness.ts";

const token = "42:secret-of-the-bot-0123456789";

async function openTelegram(replies: Readonly<Record<string, unknown>>) {
  const world = await openWorld();
  const telegram = await startTelegram({ token, users: [person] });
  onTestFinished(() => telegram.stop());
  const account = { botToken: token, apiBaseUrl: telegram.url };
  const access = { dm: "open" };
  world.configure(
    exampleConfig({ channels: { telegram: { accounts: { main: account } } }, access, replies }),
  );
  world.script((_, index) => ({ text: `answer ${index}` }));
  return { telegram, started: await world.start() };
}

const faults: readonly (readonly [string, TelegramFault])[] = [
  ["Telegram answers 502 and sends nothing", { kind: "refuse", status: 502, description: "Bad Gateway" }],
  ["a proxy answers 502 in JSON", { kind: "status", body: '{"error":"bad gateway"}' }],
  ["a proxy answers 503 in HTML", { kind: "status", status: 503 }],
  ["the response is lost after the message was sent", { kind: "cut" }],
];

it.each(faults)("every answer arrives once if %s", async (_, fault) => {
  const { telegram, started } = await openTelegram({ stream: "off", typing: false });
  telegram.fail({ ...fault, times: 2 });
  for (let round = 0; round < 2; round += 1) {
    await telegram.push(textMessage(`question ${round}`));
    await eventually(() => telegram.sent.length > round, `answer ${round} is out`);
    await started.settled();
  }
  expect(telegram.sent.map(({ text }) => text)).toEqual(["answer 0", "answer 1"]);
  await started.stop();
});

it("a draft becomes the answer although the response to its last edit is lost", async () => {
  const { telegram, started } = await openTelegram({ stream: "draft", typing: false });
  telegram.fail({ kind: "cut", path: "editMessageText", times: 2 });
  await telegram.push(textMessage("question"));
  await started.settled();
  await eventually(() => telegram.sent.length >= 1, "the answer is out");
  expect(telegram.sent.filter(({ deleted }) => !deleted).map(({ text }) => text)).toEqual(["answer 0"]);
  await started.stop();
});
