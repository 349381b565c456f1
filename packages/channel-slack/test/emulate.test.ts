import { createInMemoryCache, createInMemoryState, type OutboundPart, systemClock } from "@signalbox/channel";
import { freePort } from "@signalbox/testkit";
import { createEmulator } from "emulate";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { slack } from "../src/index.ts";
import { never } from "./harness.ts";

// A third-party emulation of Slack's Web API. It has no sockets and no streams.
const botToken = "xoxb-emulated";
const bot = { bot_id: "B000000009", bot_user_id: "U000000009", bot_name: "signalbox" };
const seed = {
  slack: {
    oauth_apps: [{ client_id: "c", client_secret: "s", name: "Signalbox", redirect_uris: [], ...bot }],
    tokens: [{ token: botToken, type: "bot", user_id: bot.bot_user_id, ...bot }],
  },
};

type Running = Required<Awaited<ReturnType<typeof slack.create>>>;

describe("against emulate", () => {
  let emulator: Awaited<ReturnType<typeof createEmulator>>;
  let channel: Running;
  const to = { channel: "C000000001" };

  beforeAll(async () => {
    emulator = await createEmulator({ service: "slack", port: await freePort(), seed });
    const settings = { botToken, signingSecret: "s", transport: "webhook", baseUrl: `${emulator.url}/api` };
    const checked = await slack.config["~standard"].validate(settings);
    if (checked.issues !== undefined) throw new Error("the settings are refused");
    const quiet = () => {};
    const created = await slack.create({
      config: checked.value,
      account: "main",
      logger: { debug: quiet, info: quiet, warn: quiet, error: quiet },
      emit: async () => "accepted",
      fetch: globalThis.fetch,
      clock: systemClock,
      cache: createInMemoryCache({ clock: systemClock }),
      state: createInMemoryState(),
      signal: never,
    });
    await created.start(never);
    channel = Object.assign(created);
  });
  afterAll(async () => {
    await channel.stop({ drainMs: 0 });
    await emulator.close();
  });

  const words = (text: string): OutboundPart => ({ type: "markdown", text });
  const send = (text: string, key: string, place: { channel: string; thread?: string } = to) =>
    channel.send(place, { parts: [words(text)] }, { idempotencyKey: key, signal: never });
  const texts = async (place: { channel: string; thread?: string } = to) =>
    (await channel.history(place, { limit: 20, signal: never })).map(({ text }) => text);

  it("fetches its identity", () => {
    expect(channel.self()).toMatchObject({ id: bot.bot_user_id, name: "signalbox", botId: bot.bot_id });
    expect(channel.health()).toEqual({ state: "ready" });
  });

  it("sends, reconciles, edits, reacts to and deletes a message", async () => {
    const { parts } = await send("**one**", "row-1");
    const id = parts[0]?.messageId ?? "";
    const intent = { to, part: 0, content: words("**one**"), attemptedAt: Date.now() };
    expect(await channel.reconcile({ ...intent, idempotencyKey: "row-1" }, never)).toEqual({
      outcome: "sent",
      messageId: id,
    });
    expect(await channel.reconcile({ ...intent, idempotencyKey: "row-2" }, never)).toEqual({
      outcome: "not_sent",
    });
    await channel.edit(to, id, { parts: [words("two")] }, never);
    await channel.react(to, id, { emoji: "👍", on: true }, never);
    await channel.react(to, id, { emoji: "👍", on: false }, never);
    expect(await texts()).toContain("two");
    await channel.remove(to, id, never);
    expect(await texts()).not.toContain("two");
  });

  it("replies in a thread and edits a draft, as there are no streams", async () => {
    const { parts } = await send("root", "row-3");
    const thread = { ...to, thread: (parts[0]?.messageId ?? "").split(":")[1] ?? "" };
    const draft = await channel.openDraft(thread, { idempotencyKey: "run-1", signal: never });
    await draft.update("on");
    await draft.finalize({ parts: [words("one and all"), words("more")] });
    expect(await texts(thread)).toEqual(["root", "one and all", "more"]);
  });

  it("sends and downloads a file and looks up users", async () => {
    const content = "a,b\n1,2\n";
    const part: OutboundPart = {
      type: "media",
      kind: "file",
      name: "report.csv",
      mimeType: "text/csv",
      ref: "r",
      size: content.length,
    };
    const openMedia = async () => new Blob([content]).stream();
    const { parts } = await channel.send(
      to,
      { parts: [part] },
      { idempotencyKey: "row-4", signal: never, openMedia },
    );
    expect(parts[0]?.messageId).toMatch(/^C000000001:/);
    expect(await channel.resolve("U000000001", never)).toEqual({ name: "admin" });
    expect(await channel.openDirect("U000000001", never)).toMatchObject({
      channel: expect.stringMatching(/^D/),
    });
  });
});
