import { person, startTelegram, textMessage } from "@signalbox/testkit/telegram";
import { expect, it, onTestFinished } from "vitest";
import { ends, eventually, exampleConfig, openWorld } from "../support/harness.ts";

const token = "42:secret-of-the-bot-0123456789";

/** A gateway whose Telegram account runs in its own process, and a model that numbers its answers. */
async function openProcessWorld() {
  const world = await openWorld();
  const telegram = await startTelegram({ token, users: [person] });
  onTestFinished(() => telegram.stop());
  const account = { botToken: token, apiBaseUrl: telegram.url };
  world.configure(exampleConfig({ channels: { telegram: { process: true, accounts: { main: account } } } }));
  world.script((_, index) => ({ text: `answer ${index}` }));
  return { world, telegram };
}

it("answers each message once even if the process of the Telegram account is killed", async () => {
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
});

/** The bundled program has to find the worker's file next to itself. */
it("runs an account in its own process from the bundled program", async () => {
  const { world, telegram } = await openProcessWorld();
  await world.startChild();
  await telegram.push(textMessage("one"));
  await eventually(() => telegram.sent.length === 1, "it is answered");
  expect(telegram.sent.map(({ text }) => text)).toEqual(["answer 0"]);
});
