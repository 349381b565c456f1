import { person, startTelegram, textMessage } from "@signalbox/testkit/telegram";
import { expect, it, onTestFinished } from "vitest";
import { ends, eventually, exampleConfig, openWorld } from "./harness.ts";

const token = "42:secret-of-the-bot-0123456789";

/** A gateway whose Telegram account has a runs in its own process, and a model that counts its answers. */
async function openProcessWorld() {
  const world = await openWorld();
  const telegram = await startTelegram({ token, users: [person] });
  onTestFinished(() => telegram.stop());
  const account = { botToken: token, apiBaseUrl: telegram.url };
  world.configure(exampleConfig({ channels: { telegram: { process: true, accounts: { main: account } } } }));
  world.script((_, index) => ({ text: `answer ${index}` }));
  return { world, telegram };
}

it("answers by an account in a runs in its own process, each message once, though the process is killed", async () => {
  const { world, telegram } = await openProcessWorld();
  const started = await world.start();
  const pids = () => started.log().match(/(?<="pid":)\d+(?=[^\n]*runs in its own process)/g) ?? [];
  await telegram.push(textMessage("one"));
  await started.settled();
  process.kill(Number(pids().at(-1)), "SIGKILL");
  await telegram.push(textMessage("two"));
  await eventually(async () => (await ends(world)).length === 2, "the second message has its end");
  await started.settled();
  expect(await ends(world)).toEqual([
    ["replied", undefined],
    ["replied", undefined],
  ]);
  expect(telegram.sent.map(({ text }) => text)).toEqual(["answer 0", "answer 1"]);
  expect(new Set(pids()).size).toBe(2);
}, 60_000);

/** What the program runs, which is bundled, and finds the process's own program beside it. */
it("does so in the program that people install", async () => {
  const { world, telegram } = await openProcessWorld();
  await world.startChild();
  await telegram.push(textMessage("one"));
  await eventually(() => telegram.sent.length === 1, "it is answered");
  expect(telegram.sent.map(({ text }) => text)).toEqual(["answer 0"]);
}, 60_000);
