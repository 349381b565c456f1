import { createHash } from "node:crypto";
import { createInMemoryState } from "@signalbox/channel";
import { expectChannelError } from "@signalbox/channel/testkit";
import {
  buttonClick,
  channelMention,
  push,
  signed,
  slashCommand,
  textMessage,
} from "@signalbox/testkit/slack";
import { describe, expect, it } from "vitest";
import { slack } from "../src/index.ts";
import { type Bench, createAdjustableClock, credentials, openBench } from "./harness.ts";

const { signingSecret } = credentials;

describe("signed requests", () => {
  it("accept the example from Slack's documentation", async () => {
    // The worked example of "Verifying requests from Slack".
    const body =
      "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar" +
      "&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com" +
      "%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c";
    const headers = {
      "content-type": "application/x-www-form-urlencoded",
      "x-slack-request-timestamp": "1531420618",
      "x-slack-signature": "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503",
    };
    const secret = "8f742231b10e8888abcd99yyyzzz85a5";
    await using bench = await openBench(
      { transport: "webhook", signingSecret: secret },
      { context: { clock: createAdjustableClock(1_531_420_618_000) } },
    );
    const answer = await fetch(bench.url, { method: "POST", headers, body });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe("");
    expect(bench.events).toMatchObject([
      { type: "command", name: "webhook-collect", sender: { id: "U2CERLKJA" } },
    ]);
  });

  it("are rejected if the timestamp differs by more than five minutes", async () => {
    const clock = createAdjustableClock(1_767_225_600_000);
    await using bench = await openBench({ transport: "webhook" }, { context: { clock } });
    const post = async (seconds: number | string) =>
      (await bench.fakeServer.postEvent(bench.url, textMessage("hi"), { timestamp: seconds })).status;
    const now = 1_767_225_600;
    expect(await Promise.all([now, now - 300, now + 300].map(post))).toEqual([200, 200, 200]);
    expect(await Promise.all([now - 301, now + 301, "", "NaN", "1e9", " "].map(post))).toEqual(
      Array(6).fill(401),
    );
  });

  it("are accepted by a host that has not started the account", async () => {
    await using bench = await openBench({ transport: "webhook" }, { start: false });
    expect((await bench.fakeServer.postEvent(bench.url, textMessage("hello"))).status).toBe(200);
    expect(bench.events).toMatchObject([{ text: "hello" }]);
  });

  it("are acknowledged only after the event was stored; otherwise Slack retries", async () => {
    await using bench = await openBench();
    bench.onEmit = async () => "rejected";
    const message = textMessage("one");
    expect((await bench.fakeServer.postEvent(bench.url, message)).status).toBe(503);
    bench.onEmit = undefined;
    const retry = { number: 1, reason: "http_error" };
    expect((await bench.fakeServer.postEvent(bench.url, message, { retry })).status).toBe(200);
    expect(
      (await bench.fakeServer.postEvent(bench.url, message, { retry: { ...retry, number: 2 } })).status,
    ).toBe(200);
    expect(bench.events).toHaveLength(1);
  });

  it("accept clicks and commands with an empty response", async () => {
    await using bench = await openBench({ transport: "webhook", command: "/bot" });
    const deliveries = [
      buttonClick("1.2", { id: "yes", value: '{"a":[1]}' }),
      buttonClick("1.2", { id: "odd", value: "not json" }),
      slashCommand("/bot", ""),
      slashCommand("/bot", "/New  topic of the day", { channel: "C_GENERAL" }),
      slashCommand("/deploy", "now please", { channel: "C_GENERAL" }),
    ];
    for (const delivery of deliveries) {
      const answer = await bench.fakeServer.postEvent(bench.url, delivery);
      expect([answer.status, await answer.text()]).toEqual([200, ""]);
    }
    expect(bench.events).toMatchObject([
      { type: "action", actionId: "yes", value: { a: [1] }, messageId: "D_DIRECT:1.2", addressed: "dm" },
      { type: "action", actionId: "odd", value: "not json" },
      { type: "command", name: "help", args: "", conversation: { kind: "direct" } },
      { type: "command", name: "new", args: "topic of the day", conversation: { kind: "channel" } },
      { type: "command", name: "deploy", args: "now please" },
    ]);
  });

  it("answer a command privately if the bot is not a member of the conversation", async () => {
    const answers: unknown[] = [];
    const through: typeof fetch = async (input, init) => {
      if (!String(input).startsWith("https://hooks.slack.invalid/commands/")) return fetch(input, init);
      answers.push(JSON.parse(String(init?.body)));
      return new Response("ok");
    };
    await using bench = await openBench(
      { transport: "webhook" },
      { context: { fetch: through }, fakeServer: { strange: ["C_STRANGE"] } },
    );
    const options = { idempotencyKey: "k", signal: new AbortController().signal };
    const status = { parts: [{ type: "markdown" as const, text: "**Well** <!channel>" }] };
    await bench.fakeServer.postEvent(
      bench.url,
      slashCommand("/signalbox", "status", { channel: "C_STRANGE" }),
    );
    const [{ address = "" } = {}] = bench.events;
    const to = slack.codec.decode(address);
    expect((await bench.channel.send(to, status, options)).parts).toHaveLength(1);
    expect(answers).toEqual([{ response_type: "ephemeral", text: "*Well* &lt;\u200b!channel&gt;" }]);
    // Without a pending command, sending there is rejected.
    expect(
      await expectChannelError(bench.channel.send({ channel: "C_STRANGE" }, status, options)),
    ).toMatchObject({
      code: "not_found",
      scope: "conversation",
    });
    // If the bot is a member, everyone sees the answer.
    await bench.fakeServer.postEvent(
      bench.url,
      slashCommand("/signalbox", "status", { channel: "C_GENERAL" }),
    );
    await bench.channel.send(slack.codec.decode(bench.events[1]?.address ?? ""), status, options);
    expect(bench.fakeServer.sent).toMatchObject([{ channel: "C_GENERAL" }]);
    expect(answers).toHaveLength(1);
  });

  it("get 400 if the body is not an event, and 200 for a certificate check", async () => {
    await using bench = await openBench();
    const form = "application/x-www-form-urlencoded";
    const post = async (body: string, type = "application/json") =>
      (await fetch(bench.url, signed(body, type, { signingSecret }))).status;
    expect(await post("{")).toBe(400);
    expect(await post("[]")).toBe(400);
    expect(await post('{"type":"event_callback"}')).toBe(400);
    expect(await post("payload=%7B", form)).toBe(400);
    expect(await post("a=b", form)).toBe(400);
    expect(await post("ssl_check=1&token=t", form)).toBe(200);
    expect(await post('{"type":"event_callback","event":{"type":"message"}}')).toBe(400);
    expect(await post('{"type":"event_callback","event":{"type":"of the future"}}')).toBe(200);
    expect(bench.events).toEqual([]);
  });

  it("are verified over the raw bytes of the body", async () => {
    await using bench = await openBench();
    const bytes = Buffer.from([0x7b, 0xff, 0xfe, 0x7d]);
    const dressed = push(textMessage("x"), { signingSecret });
    const { sign } = await import("@signalbox/testkit/slack");
    const time = dressed.headers["x-slack-request-timestamp"] ?? "";
    const headers = { ...dressed.headers, "x-slack-signature": sign(time, bytes, signingSecret) };
    expect((await fetch(bench.url, { method: "POST", headers, body: bytes })).status).toBe(400);
    const other = createHash("sha256").update(bytes).digest();
    expect((await fetch(bench.url, { method: "POST", headers, body: other })).status).toBe(401);
  });

  it("look up the kind of the conversation if the event lacks it, and are retried if that fails", async () => {
    await using bench = await openBench(
      { transport: "webhook" },
      { fakeServer: { channels: { G_SOME: "mpim" } } },
    );
    bench.fakeServer.fail({ kind: "status", method: "conversations.info" });
    const click = buttonClick("1.2", { id: "yes" }, { channel: "G_SOME" });
    expect((await bench.fakeServer.postEvent(bench.url, click)).status).toBe(503);
    expect((await bench.fakeServer.postEvent(bench.url, click)).status).toBe(200);
    expect(bench.events).toMatchObject([{ conversation: { id: "G_SOME", kind: "group" } }]);
  });

  it("address the bot in threads in which it has written, even after a restart", async () => {
    const state = createInMemoryState();
    const threadTs = "1767225600.000100";
    const say = ({ fakeServer, url }: Bench, text: string) =>
      fakeServer.postEvent(url, textMessage(text, { channelType: "channel", threadTs }));
    await using bench = await openBench({ transport: "webhook" }, { context: { state } });
    await say(bench, "before");
    await bench.channel.send(
      { channel: "C_GENERAL", thread: threadTs },
      { parts: [{ type: "text", text: "I am here" }] },
      { idempotencyKey: "k", signal: new AbortController().signal },
    );
    await say(bench, "after");
    expect(bench.events.map(({ addressed }) => addressed)).toEqual(["none", "reply"]);
    await using next = await openBench({ transport: "webhook" }, { context: { state } });
    await say(next, "after the restart");
    expect(next.events.map(({ addressed }) => addressed)).toEqual(["reply"]);
  });

  it("do not block an answer whose thread cannot be stored", async () => {
    const set = () => Promise.reject(new Error("the disk is full"));
    await using bench = await openBench(
      { transport: "webhook" },
      { context: { state: { ...createInMemoryState(), set } } },
    );
    const { parts } = await bench.channel.send(
      { channel: "C_GENERAL", thread: "1767225600.000100" },
      { parts: [{ type: "text", text: "I am here" }] },
      { idempotencyKey: "k", signal: new AbortController().signal },
    );
    expect(parts).toHaveLength(1);
  });

  it("look up the names of a limited number of mentioned users", async () => {
    await using bench = await openBench();
    const everybody = Array.from({ length: 200 }, (_, index) => `<@U${index}>`).join(" ");
    await bench.fakeServer.postEvent(
      bench.url,
      textMessage(`<@U_ANN> ${everybody}`, { channelType: "channel" }),
    );
    expect(bench.events).toMatchObject([{ text: expect.stringMatching(/^@Ann @U0 .*@U199$/) }]);
    expect(bench.fakeServer.called.filter((method) => method === "users.info")).toHaveLength(20);
  });

  it("emit messages of a conversation in order, however long each lookup takes", async () => {
    const asked = Promise.withResolvers<void>();
    const named = Promise.withResolvers<void>();
    const slowly: typeof fetch = async (input, init) => {
      if (String(input).endsWith("/users.info")) {
        asked.resolve();
        await named.promise;
      }
      return fetch(input, init);
    };
    await using bench = await openBench({ transport: "webhook" }, { context: { fetch: slowly } });
    const say = (text: string, channel: string) =>
      bench.fakeServer.postEvent(bench.url, textMessage(text, { channel, channelType: "channel" }));
    const first = say("ask <@U_ANN>", "C_GENERAL");
    await asked.promise;
    const second = say("and quickly", "C_GENERAL");
    await say("elsewhere", "C_OTHER");
    named.resolve();
    expect((await Promise.all([first, second])).map(({ status }) => status)).toEqual([200, 200]);
    expect(bench.events).toMatchObject([
      { text: "elsewhere" },
      { text: "ask @Ann" },
      { text: "and quickly" },
    ]);
  });

  it("keep a mention in the channel if replyInThread is off", async () => {
    await using bench = await openBench({ transport: "webhook", replyInThread: false });
    await bench.fakeServer.postEvent(bench.url, channelMention("hi", "U_BOT"));
    expect(bench.events).toMatchObject([{ address: "slack:C_GENERAL", addressed: "mention" }]);
    expect(bench.events[0]?.conversation.threadId).toBeUndefined();
  });

  it("let the account verify its token periodically", async () => {
    const clock = createAdjustableClock();
    await using bench = await openBench({ transport: "webhook" }, { context: { clock } });
    expect(bench.channel.health()).toEqual({ state: "ready" });
    bench.fakeServer.revoke();
    clock.advance(300_001);
    await expect.poll(() => bench.channel.health().state).toBe("down");
  });
});

describe("the settings", () => {
  const issues = async (settings: unknown) =>
    ((await slack.config["~standard"].validate(settings)).issues ?? []).map(({ message }) => message);

  it("name the missing field and where to find it", async () => {
    expect(await issues({})).toEqual([expect.stringMatching(/^botToken is missing: copy it from OAuth/)]);
    expect(await issues({ botToken: "xoxp-1", appToken: "xapp-1" })).toEqual([
      expect.stringMatching(/^botToken must start with xoxb-/),
    ]);
    expect(await issues({ botToken: "xoxb-1" })).toEqual([
      expect.stringMatching(/^appToken is missing: generate/),
    ]);
    expect(await issues({ botToken: "xoxb-1", transport: "webhook" })).toEqual([
      expect.stringMatching(/^signingSecret is missing/),
    ]);
    expect(await issues({ botToken: "xoxb-1", appToken: "xapp-1", command: "bot" })).toHaveLength(1);
    expect(await issues({ botToken: "xoxb-1", appToken: "xapp-1" })).toEqual([]);
  });
});
