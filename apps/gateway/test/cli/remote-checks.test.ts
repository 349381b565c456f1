import { startDiscord } from "@signalbox/testkit/discord";
import { startFeishu, textMessage } from "@signalbox/testkit/feishu";
import { startSlack } from "@signalbox/testkit/slack";
import { startTelegram } from "@signalbox/testkit/telegram";
import { expect, it, onTestFinished } from "vitest";
import { APP, exampleConfig, feishuAccount, openWorld, TOKEN, ZHANG } from "../support/harness.ts";

const SLACK = { botToken: "xoxb-1-2-abc", appToken: "xapp-1-A-2-abc" };
const DISCORD = "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcDE.abcdefghijklmnopqrstuvwxyz0123456789AB";
const TELEGRAM = "123456789:AAabcdefghijklmnopqrstuvwxyz0123456";

it("doctor has a line for what each platform says an account lacks there, with what to do", async () => {
  const world = await openWorld();
  const feishu = await startFeishu({
    appId: APP.appId,
    appSecret: APP.appSecret,
    permissions: ["im:message", "im:message.group_msg"],
  });
  const slack = await startSlack({ ...SLACK, scopes: ["chat:write"] });
  const discord = await startDiscord({ token: DISCORD });
  const telegram = await startTelegram({ token: TELEGRAM });
  onTestFinished(async () => {
    await Promise.all([feishu, slack, discord, telegram].map((fakeServer) => fakeServer.stop()));
  });
  world.configure(
    exampleConfig({
      channels: {
        feishu: { accounts: { main: feishuAccount({ baseUrl: feishu.url }) } },
        slack: { accounts: { main: { ...SLACK, baseUrl: slack.apiUrl } } },
        discord: { accounts: { main: { token: DISCORD, apiBaseUrl: discord.url } } },
        telegram: { accounts: { main: { botToken: TELEGRAM, apiBaseUrl: telegram.url } } },
      },
    }),
  );
  await world.start();
  const doctor = async (): Promise<string> => {
    const { out } = await world.command(["doctor"]);
    return out;
  };
  const said = await doctor();
  expect(said).toMatch(
    /^warning channel feishu\/main permissions: the app lacks im:resource \(.*\n +Add them under/m,
  );
  expect(said).toMatch(
    /^warning channel slack\/main scopes: the token lacks app_mentions:read .*\n +Add them under/m,
  );
  expect(said).toMatch(/^ok +channel discord\/main intents: Message Content Intent is on$/m);
  expect(said).toMatch(/^ok +channel telegram\/main groups: /m);
  // No model is called, and paid for, unless that is asked for.
  expect(world.anthropic.requests).toHaveLength(0);
});

it("doctor reports an account whose secret the platform refuses once, with the platform's code", async () => {
  const world = await openWorld();
  const account = feishuAccount({ appSecret: "another-secret" });
  world.configure(exampleConfig({ channels: { feishu: { accounts: { main: account } } } }));
  await world.start();
  const { out, code } = await world.command(["doctor"]);
  expect(code).toBe(1);
  expect(out.match(/^\w+ +channel feishu\/main: .*$/gm)).toEqual([
    expect.stringMatching(/^error +channel feishu\/main: the platform refuses the account: .*error 10014: /),
  ]);
});

it("doctor calls each agent's model where it is told to, and says what the vendor says", async () => {
  const world = await openWorld();
  world.configure(exampleConfig());
  world.script([{ text: "OK" }]);
  const started = await world.start();
  const doctor = async (): Promise<string> => {
    const { out } = await world.command(["doctor", "--models"]);
    return out;
  };
  const model = "model anthropic/claude-sonnet-4-6 of coder";
  const said = await doctor();
  expect(said).toMatch(/^ok +channel feishu\/main permissions: /m);
  expect(said).toMatch(/^ok +channel feishu\/main webhook: not checked: /m);
  expect(said).toMatch(new RegExp(`^ok +${model}: it answers$`, "m"));
  world.script(() => ({ error: { status: 401, message: "invalid x-api-key" } }));
  expect(await doctor()).toMatch(
    new RegExp(`^error   ${model}: it does not answer: .*invalid x-api-key`, "m"),
  );
  const asMember = await fetch(`${started.url}/api/checks`, {
    headers: { authorization: `Bearer not-${TOKEN}` },
  });
  expect(asMember.status).toBe(401);
});

it("doctor says that an agent's last message could not be answered, until one can be again", async () => {
  const world = await openWorld();
  world.configure(exampleConfig());
  world.script([{ error: { status: 401 } }, { text: "hello" }]);
  const started = await world.start();
  const agentLine = async (): Promise<string> => {
    const { out } = await world.command(["doctor"]);
    return /^.* agent coder: [\s\S]*?(?=^\S)/m.exec(out)?.[0] ?? "";
  };
  expect(await agentLine()).toBe("ok      agent coder: uses anthropic/claude-sonnet-4-6\n");
  await started.post(textMessage("hi", { senderId: ZHANG, messageId: "om_1" }));
  await started.settled();
  await started.post(textMessage("/status", { senderId: ZHANG, messageId: "om_2" }));
  await started.settled();
  expect(await agentLine()).toMatch(
    /^warning agent coder: .*; its last message could not be answered \(auth\)\n +Run `signalbox why \w{26}` to see what to do/,
  );
  await started.post(textMessage("hi again", { senderId: ZHANG, messageId: "om_3" }));
  await started.settled();
  expect(await agentLine()).toMatch(/^ok /);
});
