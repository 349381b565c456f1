import { startDiscord } from "@signalbox/testkit/discord";
import { startFeishu } from "@signalbox/testkit/feishu";
import { startSlack } from "@signalbox/testkit/slack";
import { startTelegram } from "@signalbox/testkit/telegram";
import { expect, it, onTestFinished } from "vitest";
import { APP, exampleConfig, feishuAccount, openWorld, TOKEN } from "./harness.ts";

const BOT_TOKEN = "xoxb-not-a-real-token";

it("doctor has a line for what each platform says an account lacks there, with what to do", async () => {
  const world = await openWorld();
  const feishu = await startFeishu({
    appId: APP.appId,
    appSecret: APP.appSecret,
    permissions: ["im:message"],
  });
  const slack = await startSlack({
    botToken: BOT_TOKEN,
    signingSecret: "s".repeat(32),
    scopes: ["chat:write"],
  });
  const discord = await startDiscord({ token: "discord-token", mayReadContent: false });
  const telegram = await startTelegram({ token: "123456:telegram" });
  onTestFinished(async () => {
    await Promise.all([feishu, slack, discord, telegram].map((standIn) => standIn.stop()));
  });
  world.configure(
    exampleConfig({
      channels: {
        feishu: { accounts: { main: feishuAccount({ baseUrl: feishu.url }) } },
        slack: {
          accounts: {
            main: {
              botToken: BOT_TOKEN,
              signingSecret: "s".repeat(32),
              transport: "webhook",
              apiUrl: slack.apiUrl,
            },
          },
        },
        discord: {
          accounts: { main: { token: "discord-token", apiUrl: discord.url, messageContent: true } },
        },
        telegram: {
          accounts: {
            main: {
              token: "123456:telegram",
              apiUrl: telegram.url,
              transport: "webhook",
              secretToken: "t".repeat(32),
            },
          },
        },
      },
    }),
  );
  await world.startChild();
  const doctor = world.run(["doctor"]);
  await doctor.exited;
  const said = doctor.stdout();
  expect(said).toMatch(
    /^warning channel feishu\/main permissions: the app lacks im:resource \(.*\n +Add them under/m,
  );
  expect(said).toMatch(
    /^warning channel slack\/main scopes: the token lacks app_mentions:read .*\n +Add them/m,
  );
  expect(said).toMatch(/^warning channel discord\/main intents: .*not turned on\n +Turn it on/m);
  expect(said).toMatch(/^warning channel telegram\/main webhook: Telegram has no webhook for this bot/m);
  expect(said).toMatch(/^ok +channel telegram\/main groups: /m);
  // No model is called, and paid for, unless that is asked for.
  expect(world.anthropic.requests).toHaveLength(0);
});

it("doctor calls each agent's model where it is told to, and says what the vendor says", async () => {
  const world = await openWorld();
  world.configure(exampleConfig());
  world.script([{ text: "OK" }]);
  const started = await world.startChild();
  const doctor = async (): Promise<string> => {
    const child = world.run(["doctor", "--models"]);
    await child.exited;
    return child.stdout();
  };
  const model = "model anthropic/claude-sonnet-4-6 of coder";
  expect(await doctor()).toMatch(
    new RegExp(`^ok +channel feishu/main permissions: .*\nok +${model}: it answers$`, "m"),
  );
  world.script(() => ({ error: { status: 401, message: "invalid x-api-key" } }));
  expect(await doctor()).toMatch(
    new RegExp(`^warning ${model}: it does not answer: .*invalid x-api-key`, "m"),
  );
  const asMember = await fetch(`${started.url}/api/checks`, {
    headers: { authorization: `Bearer not-${TOKEN}` },
  });
  expect(asMember.status).toBe(401);
});
