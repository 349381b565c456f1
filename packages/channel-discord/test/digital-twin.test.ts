import { openChannel, type RunningChannel } from "@signalbox/channel/testkit";
import { ChannelType } from "discord-api-types/v10";
import { DigitalDiscord } from "discord-digital-twin";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type DiscordAddress, discord } from "../src/index.ts";
import { never } from "./harness.ts";

// A third-party emulation of Discord's API and gateway. It has no length limits, no direct conversations and
// no mentions, and its sessions cannot be resumed.
const bot = { id: "1000000000000000001", username: "signalbox" };
const zhang = { id: "2000000000000000001", username: "zhangsan" };
const place = { id: "3000000000000000001", name: "general", type: ChannelType.GuildText };
const to = { channelId: place.id };

describe("against discord-digital-twin", () => {
  const twin = new DigitalDiscord({
    botUser: bot,
    botToken: `${Buffer.from(bot.id).toString("base64")}.made-up.secret-of-the-bot`,
    users: [zhang],
    channels: [place],
  });
  let running: RunningChannel<DiscordAddress>;

  beforeAll(async () => {
    await twin.start();
    const settings = { token: twin.botToken, apiBaseUrl: new URL(twin.restUrl).origin };
    const commands = [{ name: "status", description: "How it is", usage: "[what]" }];
    running = await openChannel(discord, settings, { context: { commands } });
  });
  afterAll(async () => {
    await running[Symbol.asyncDispose]();
    await twin.stop();
  });

  const say = (content: string) =>
    twin.simulateUserMessage({ channelId: place.id, userId: zhang.id, content });
  const standing = async () =>
    (await running.channel.history?.(to, { limit: 20, signal: never }))?.map(({ text }) => text) ?? [];

  it("connects, fetches its identity, and receives messages, edits and deletions", async () => {
    expect(running.channel.health()).toEqual({ state: "ready" });
    expect(running.channel.self()).toMatchObject({ id: bot.id });
    const { id: messageId } = await say("are you there?");
    await twin.simulateUserMessageEdit({ messageId, channelId: place.id, content: "are you here?" });
    await twin.simulateUserMessageDelete({ messageId, channelId: place.id });
    await expect
      .poll(() => running.events)
      .toMatchObject([
        { type: "message", messageId, text: "are you there?", sender: { id: zhang.id, isBot: false } },
        { type: "edited", messageId, text: "are you here?" },
        { type: "deleted", messageId },
      ]);
  });

  it("sends, drafts, edits and deletes messages", async () => {
    const { id: replyTo } = await say("well?");
    const parts = [{ type: "markdown" as const, text: "**Yes**, and more." }];
    const { channel } = running;
    const sent = await channel.send(to, { parts, replyTo }, { idempotencyKey: "k1", signal: never });
    const draft = await channel.openDraft?.(to, { idempotencyKey: "d1", signal: never });
    await draft?.update("Gro");
    await draft?.finalize({ parts: [{ type: "text", text: "Grown." }] });
    expect((await standing()).slice(-2)).toEqual(["**Yes**, and more.", "Grown."]);
    const messageId = sent.parts[0]?.messageId ?? "";
    await channel.edit?.(to, messageId, { parts: [{ type: "text", text: "No." }] }, never);
    expect(await standing()).toContain("No.");
    await channel.remove?.(to, messageId, never);
    expect(await standing()).not.toContain("No.");
  });

  it("registers commands, and receives a command with its option and a click", async () => {
    const { channel, events } = running;
    const before = events.length;
    const command = { channelId: place.id, userId: zhang.id, name: "status" };
    await twin.simulateSlashCommand({ ...command, options: [{ name: "what", type: 3, value: "all" }] });
    const buttons = [{ id: "yes", label: "Yes", value: { run: 1 } }];
    const { parts } = await channel.send(
      to,
      { parts: [{ type: "buttons", text: "Go on?", buttons }] },
      { idempotencyKey: "k2", signal: never },
    );
    const messageId = parts[0]?.messageId ?? "";
    const question = (await twin.channel(place.id).getMessages()).find(({ id }) => id === messageId);
    const [customId = ""] =
      JSON.stringify(question?.components).match(/(?<="custom_id":)"(?:[^"\\]|\\.)*"/) ?? [];
    await twin.simulateButtonClick({
      channelId: place.id,
      userId: zhang.id,
      messageId,
      customId: JSON.parse(customId),
    });
    await expect
      .poll(() => events.slice(before))
      .toMatchObject([
        { type: "command", name: "status", args: "all", sender: { id: zhang.id } },
        { type: "action", messageId, actionId: "yes", value: { run: 1 } },
      ]);
  });
});
