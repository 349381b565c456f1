import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startTelegram } from "@signalbox/testkit/telegram";
import { beforeEach, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { APP, KEY, openWorld, type World } from "../support/harness.ts";

const PROGRAM = fileURLToPath(new URL("../../dist/signalbox.js", import.meta.url));
const BOT_TOKEN = "42:secret-of-the-bot-0123456789";
const ESCAPE = "\u001b";
const DOWN = "\u001b[B";
const UP = "\u001b[A";

beforeEach(({ skip }) => {
  if (spawnSync("script", ["--version"]).status !== 0) skip("script(1), which makes a terminal, is missing");
});

/** `signalbox init` at a terminal. */
function init(world: World, ...args: readonly string[]) {
  const words = [PROGRAM, "init", "--home", world.home.dir, "--no-service", ...args];
  const line = `stty cols 200 rows 50; ${process.execPath} ${words.join(" ")}`;
  const terminal = spawn("script", ["-qec", line, "/dev/null"], { env: { ...world.env, LANG: "C" } });
  onTestFinished(() => void terminal.kill("SIGKILL"));
  let shown = "";
  terminal.stdout.setEncoding("utf8").on("data", (text: string) => {
    shown += text;
  });
  const exited = new Promise((resolve) => terminal.once("exit", resolve));
  return {
    exited,
    /** The output since the last answer. */
    shown: () => shown,
    /** Waits for a question, then types an answer and Enter. */
    async answer(question: string, keys = "", end = "\r") {
      await expect.poll(() => shown).toContain(question);
      const before = shown;
      shown = "";
      terminal.stdin.write(`${keys}${end}`);
      return before;
    },
  };
}

const written = ({ home }: World) => parse(readFileSync(home.configFile, "utf8"));

it("asks again for a key that the vendor refuses, and goes back with Esc", async () => {
  const world = await openWorld();
  world.script(() => ({ text: "OK" }));
  const { answer, exited, shown } = init(world, "--base-url", world.anthropic.url);
  expect(await answer("Which model provider")).toContain("Nothing is saved yet");
  await answer("API key", "not-the-key");
  expect(await answer("Enter another key")).toContain("does not answer: invalid x-api-key");
  await answer("API key", KEY);
  await answer("Which model?");
  await answer("Language of the first");
  await answer("Where will people talk", ESCAPE, "");
  await answer("Language of the first", DOWN);
  await answer("Where will people talk");
  await exited;
  expect(shown()).toContain("Set up in ");
  expect(written(world)).toMatchObject({
    agents: { defaults: { language: "zh", model: expect.stringMatching(/^anthropic\//) } },
  });
});

it("follows the platform's setup, refuses a wrong secret at once, and continues after an interruption", async () => {
  const world = await openWorld();
  const options = ["--provider=none", "--language=en", "--set", `baseUrl=${world.feishu.url}`];
  const first = init(world, ...options);
  // Feishu is above `Nowhere yet`.
  await first.answer("Where will people talk", UP.repeat(7));
  await first.answer("Feishu or Lark");
  expect(await first.answer("li_…, under Credentials")).toContain("https://open.feishu.cn/app");
  expect(await first.answer("appId is missing", APP.appId)).toContain("copy it from Credentials");
  await first.answer("App secret", "not-the-secret-0123456789");
  const refusal = await first.answer("Enter App ID or App secret again");
  expect(refusal).toContain("Feishu / Lark refuses App ID or App secret:");
  expect(refusal).toContain("App secret: Under Credentials & Basic Info");
  await first.answer(APP.appId);
  await first.answer("App secret", APP.appSecret);
  await first.answer("How events arrive", DOWN);
  await first.answer("Encrypt key", "\u0003", "");
  await first.exited;
  expect(first.shown()).toContain("Your answers so far are saved");
  const secrets = join(world.home.dir, "secrets");
  for (const name of readdirSync(secrets)) expect(statSync(join(secrets, name)).mode & 0o077).toBe(0);

  const second = init(world, ...options);
  await second.answer("Continue the setup where it was interrupted?");
  await second.answer("Where will people talk");
  expect(await second.answer("Encrypt key", APP.encryptKey)).toContain(
    "Answered before: Feishu or Lark, App ID, App secret, How events arrive.",
  );
  await second.answer("Verification token", APP.verificationToken);
  await second.answer("Public address", "http://bot.example.org");
  await second.answer("Write it in full", "\u0015https://bot.example.org");
  expect(await second.answer("Change more settings?")).toContain(
    "https://bot.example.org/channels/feishu/main/events",
  );
  expect(await second.answer("Your user id")).toContain("The settings work");
  await second.exited;
  expect(second.shown()).toContain("pairing approve <code> --owner");
  expect(written(world).channels.feishu.accounts.main).toMatchObject({
    appId: APP.appId,
    transport: "webhook",
    webhookUrl: "https://bot.example.org/channels/feishu/main/events",
    appSecret: "${file:secrets/feishu-main-appSecret}",
  });
  expect(readFileSync(join(secrets, "feishu-main-appSecret"), "utf8").trim()).toBe(APP.appSecret);
  expect(existsSync(join(secrets, "init-answers.json"))).toBe(false);
});

it("distinguishes a platform that cannot be reached from a refusal, and tries again", async () => {
  const world = await openWorld();
  const telegram = await startTelegram({ token: BOT_TOKEN });
  onTestFinished(() => telegram.stop());
  telegram.fail({ kind: "status", status: 503, path: "getMe" });
  const { answer, exited, shown } = init(
    world,
    ...["--provider=none", "--language=en", "--channel=telegram", "--set", `apiBaseUrl=${telegram.url}`],
  );
  await answer("Bot token", BOT_TOKEN);
  const outage = await answer("Try again");
  expect(outage).toContain("Telegram cannot be reached, so the settings were not tested.");
  expect(outage).toContain(`${new URL(telegram.url).host}: HTTP 503`);
  expect(outage).not.toContain("refuses");
  await answer("Change more settings?");
  expect(await answer("Your user id")).toContain("The settings work");
  await exited;
  expect(shown()).toContain("Set up in ");
});

it("names the setting that a platform refuses, and asks for it again", async () => {
  const world = await openWorld();
  const telegram = await startTelegram({ token: BOT_TOKEN });
  onTestFinished(() => telegram.stop());
  const { answer, exited } = init(
    world,
    ...["--provider=none", "--language=en", "--channel=telegram", "--set", `apiBaseUrl=${telegram.url}`],
  );
  await answer("Bot token", "42:another-token-0123456789");
  const refusal = await answer("Enter Bot token again");
  expect(refusal).toContain("Telegram refuses Bot token: ");
  expect(refusal).toContain("Unauthorized");
  expect(refusal).toContain("Bot token: From @BotFather: /newbot");
  await answer("Bot token", BOT_TOKEN);
  await answer("Change more settings?");
  await answer("Your user id");
  await exited;
});

it("offers to try again after an outage of the model vendor", async () => {
  const world = await openWorld();
  const stopped = await startTelegram({ token: BOT_TOKEN });
  await stopped.stop();
  const { answer } = init(world, "--base-url", stopped.url);
  await answer("Which model provider");
  await answer("API key", KEY);
  const outage = await answer("Try again", UP);
  expect(outage).toContain(`${new URL(stopped.url).host} cannot be reached, so the key was not tested.`);
  expect(outage).toContain("Enter another key");
  await answer("Which model?", "\u0003", "");
});
