import { textMessage as slackMessage, push as slackRequest, startSlack } from "@signalbox/testkit/slack";
import {
  person,
  startTelegram,
  type TelegramUpdate,
  textMessage as telegramMessage,
} from "@signalbox/testkit/telegram";
import { expect, it, onTestFinished } from "vitest";
import { ends, exampleConfig, openWorld, type Started, type World } from "../support/harness.ts";

/** A request as its platform would send it, or somebody else. */
interface Post {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function open(channels: object): Promise<{ world: World; started: Started }> {
  const world = await openWorld();
  world.configure(exampleConfig({ channels, access: { dm: "open" } }));
  world.script(() => ({ text: "fine" }));
  return { world, started: await world.start() };
}

/** What came in, with no word in the log for what did not. */
async function taken({ world, started }: { world: World; started: Started }): Promise<number> {
  await started.settled();
  return (await ends(world)).length;
}

it("a request of Slack is taken as its own app signed it, once, and from no other app, account, time or hand", async () => {
  const [secret, otherSecret] = ["signing-secret-of-the-app", "signing-secret-of-the-neighbour"];
  const slack = await startSlack({ botToken: "xoxb-token-of-the-bot", signingSecret: secret });
  const other = await startSlack({ botToken: "xoxb-token-of-the-neighbour", signingSecret: otherSecret });
  onTestFinished(() => Promise.all([slack.stop(), other.stop()]).then(() => {}));
  const webhook = { transport: "webhook" };
  const main = {
    ...webhook,
    botToken: "xoxb-token-of-the-bot",
    signingSecret: secret,
    baseUrl: slack.apiUrl,
  };
  const neighbour = {
    ...webhook,
    botToken: "xoxb-token-of-the-neighbour",
    signingSecret: otherSecret,
    baseUrl: other.apiUrl,
  };
  const talk = await open({ slack: { accounts: { main, other: neighbour } } });
  const seconds = (): number => Math.floor(Date.now() / 1000);
  const post = async (account: string, init: Post): Promise<number> =>
    (await fetch(`${talk.started.url}/channels/slack/${account}/events`, init)).status;
  const signed = (id: string, options: { timestamp?: number; signingSecret?: string } = {}): Post =>
    slackRequest(
      slackMessage(`from ${id}`, {
        user: "U_ZHANG",
        channel: "D_ZHANG",
        eventId: `Ev${id}`,
        clientMsgId: id,
      }),
      {
        signingSecret: secret,
        ...options,
      },
    );

  expect(await post("main", signed("good"))).toBe(200);
  expect(await taken(talk)).toBe(1);
  // Slack delivers again what it has no answer to, and so may whoever has seen it: it stays one message.
  expect(await post("main", signed("good"))).toBe(200);
  expect(await taken(talk)).toBe(1);

  const good = signed("forged");
  const forged: readonly Post[] = [
    { ...good, headers: { ...good.headers, "x-slack-signature": `v0=${"0".repeat(64)}` } },
    { ...good, headers: { ...good.headers, "x-slack-signature": "" } },
    {
      ...good,
      headers: {
        ...good.headers,
        "x-slack-signature": good.headers["x-slack-signature"]?.replace("v0", "v1") ?? "",
      },
    },
    { ...good, headers: { ...good.headers, "x-slack-request-timestamp": String(seconds() - 1) } },
    { ...good, headers: { "content-type": "application/json" } },
    { ...good, body: good.body.replace("from", "to") },
    { ...good, body: `${good.body} ` },
    signed("forged", { signingSecret: "" }),
    signed("forged", { signingSecret: otherSecret }),
    signed("stale", { timestamp: seconds() - 24 * 3_600 }),
    signed("future", { timestamp: seconds() + 24 * 3_600 }),
  ];
  for (const [index, init] of forged.entries())
    expect([index, await post("main", init)]).toEqual([index, 401]);
  // What one app has signed is nothing to the account of another.
  expect(await post("other", signed("cross"))).toBe(401);
  expect(await post("nobody", signed("cross"))).toBe(404);
  expect(await taken(talk)).toBe(1);
});

it("an update of Telegram is taken with its account's secret, once, and with no other account's, or none", async () => {
  const secrets = { main: "secret-token-of-telegram-1", other: "secret-token-of-telegram-2" };
  const accounts: Record<string, object> = {};
  for (const [number, [name, webhookSecret]] of Object.entries(secrets).entries()) {
    const botToken = `4${number}:secret-of-the-bot-0123456789`;
    const telegram = await startTelegram({ token: botToken, users: [person] });
    onTestFinished(() => telegram.stop());
    const webhookUrl = `https://gateway.example/channels/telegram/${name}/updates`;
    accounts[name] = { botToken, transport: "webhook", webhookSecret, webhookUrl, apiBaseUrl: telegram.url };
  }
  const talk = await open({ telegram: { accounts } });
  const post = async (
    account: string,
    update: TelegramUpdate,
    headers: Record<string, string>,
  ): Promise<number> =>
    (
      await fetch(`${talk.started.url}/channels/telegram/${account}/updates`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(update),
      })
    ).status;
  const header = "x-telegram-bot-api-secret-token";

  const update = telegramMessage("hello");
  expect(await post("main", update, { [header]: secrets.main })).toBe(200);
  expect(await taken(talk)).toBe(1);
  expect(await post("main", update, { [header]: secrets.main })).toBe(200);
  expect(await taken(talk)).toBe(1);

  const forged = [
    "",
    secrets.other,
    secrets.main.slice(0, -1),
    `${secrets.main}0`,
    secrets.main.toUpperCase(),
    `${secrets.main}, ${secrets.main}`,
  ];
  for (const secret of forged)
    expect([secret, await post("main", telegramMessage("forged"), { [header]: secret })]).toEqual([
      secret,
      401,
    ]);
  expect(await post("main", telegramMessage("forged"), {})).toBe(401);
  expect(await post("main", telegramMessage("forged"), { authorization: `Bearer ${secrets.main}` })).toBe(
    401,
  );
  expect(await post("other", telegramMessage("forged"), { [header]: secrets.main })).toBe(401);
  expect(await post("nobody", telegramMessage("forged"), { [header]: secrets.main })).toBe(404);
  expect(await taken(talk)).toBe(1);
});
