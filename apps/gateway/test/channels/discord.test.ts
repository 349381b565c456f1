import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isPayload } from "@signalbox/channel";
import type { ScriptedTurn } from "@signalbox/testkit";
import { buttonsOf } from "@signalbox/testkit/discord";
import { describe, expect, it } from "vitest";
import { ASKING } from "../support/asking-config.ts";
import {
  answersIn,
  GENERAL,
  GUILD,
  OTHER_BOT,
  openDiscord,
  PERSON,
  THREAD,
  textsIn,
} from "../support/discord-talk.ts";
import { ends, eventually, inboxRows, inStore } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describe("Discord, through the gateway", () => {
  it("answers a direct message, as an answer to it", async () => {
    const { world, discord, direct, say } = await openDiscord();
    world.script([{ text: "Hello, **张三**." }]);
    const asked = await say(direct, "hello");
    expect(answersIn(discord, direct)).toMatchObject([
      { content: "Hello, **张三**.", reference: { message_id: asked }, allowedMentions: { parse: [] } },
    ]);
    expect(JSON.stringify(modelRequests(world.anthropic)[0]?.body.messages)).toContain("张三: hello");
  });

  it("answers mentions and replies in a server, with the earlier messages as context", async () => {
    const { world, discord, say } = await openDiscord();
    world.script(() => ({ text: "On Tuesday." }));
    await say(GENERAL, "The release is on Tuesday.");
    await say(GENERAL, "<@1000> when?");
    const [answer] = answersIn(discord, GENERAL);
    const { sequence } = discord.say({
      channelId: GENERAL,
      authorId: PERSON,
      content: "sure?",
      replyTo: answer?.id ?? "",
    });
    await eventually(() => discord.acknowledged(sequence ?? 0), "the reply is taken");
    await eventually(() => textsIn(discord, GENERAL).length === 2, "the reply is answered");
    expect(await ends(world)).toEqual([
      ["ignored", "not_addressed"],
      ["replied", undefined],
      ["replied", undefined],
    ]);
    expect(JSON.stringify(modelRequests(world.anthropic)[0]?.body.messages)).toContain(
      "release is on Tuesday",
    );
  });

  it("routes by server and role, and admits threads of a listed channel as separate conversations", async () => {
    const { world, discord, say } = await openDiscord({
      config: {
        agents: {
          defaults: { model: "anthropic/claude-sonnet-4-6" },
          list: [
            { id: "coder", tools: { allow: [] } },
            { id: "developers", tools: { allow: [] } },
          ],
        },
        bindings: [{ agent: "developers", match: { channel: "discord", guildId: GUILD, roles: ["7101"] } }],
      },
    });
    world.script(() => ({ text: "Here." }));
    await say(GENERAL, "<@1000> where?");
    await say(THREAD, "<@1000> and here?");
    expect(textsIn(discord, THREAD)).toEqual(["Here."]);
    const sessions = await inStore(world, (store) => store.sessions.list());
    expect(sessions.map(({ key }) => key).toSorted()).toEqual([
      `agent:developers:discord:main:channel:${GENERAL}`,
      `agent:developers:discord:main:channel:${THREAD}`,
    ]);
  });

  it("requests approval with buttons, and an owner's click decides", async () => {
    const { world, discord, direct, say, started } = await openDiscord();
    const write = { name: "write", input: { file_path: "SOUL.md", content: "Be bold." } };
    world.script([{ toolCalls: [{ id: "toolu_soul", ...write }] }, { text: "as you say" }]);
    discord.say({ channelId: GENERAL, authorId: OTHER_BOT, content: "the motto is: be bold" });
    await say(GENERAL, "the motto is: be bold");
    discord.say({ channelId: GENERAL, authorId: PERSON, content: "<@1000> write the motto down" });
    await eventually(() => answersIn(discord, GENERAL).length > 0, "the question is put");
    const [question] = answersIn(discord, GENERAL);
    expect(question?.content).toContain("the agent coder wants to use write");
    if (question === undefined) return;
    const [allow, deny] = buttonsOf(question);
    expect([allow?.label, deny?.label]).toEqual(["Allow", "Deny"]);
    const click = { kind: "click", messageId: question.id, customId: allow?.customId ?? "" } as const;
    const interaction = discord.interact(GENERAL, PERSON, click);
    await eventually(() => textsIn(discord, GENERAL).includes("as you say"), "the run goes on");
    await started.settled();
    expect(interaction.answeredWith).toBe(6);
    expect(textsIn(discord, direct)).toEqual([]);
  });

  it("accepts a free-text answer through a form, and continues with it", async () => {
    const { world, discord, direct, started } = await openDiscord({ config: { agents: ASKING } });
    const input = { question: "Tea or coffee?", options: ["Tea", "Coffee"] };
    world.script([{ toolCalls: [{ id: "toolu_ask", name: "ask_user", input }] }, { text: "As you like." }]);
    discord.say({ channelId: direct, authorId: PERSON, content: "make me a drink" });
    await eventually(() => answersIn(discord, direct).length > 0, "the question is put");
    const [question] = answersIn(discord, direct);
    if (question === undefined) return;
    const other = buttonsOf(question).find(({ label }) => label === "Other answer");
    const click = { kind: "click", messageId: question.id, customId: other?.customId ?? "" } as const;
    const opened = discord.interact(direct, PERSON, click);
    await eventually(() => opened.form !== undefined, "the form is opened");
    discord.interact(direct, PERSON, { kind: "submit", opened, text: "neither, thank you" });
    await started.settled();
    expect(modelRequests(world.anthropic)[1]?.messages.at(-1)?.text).toBe(
      "They answered: neither, thank you",
    );
    expect(textsIn(discord, direct)[0]).toContain("Answered: neither, thank you");
    expect(textsIn(discord, direct)[1]).toBe("As you like.");
  });

  it("answers a question from a message's context menu about that message", async () => {
    const { world, discord, started } = await openDiscord();
    world.script([{ text: "Since noon." }]);
    const content = "The build is broken";
    const about = discord.plant({ channelId: GENERAL, authorId: OTHER_BOT, content });
    const command = { kind: "message-command", name: "Ask about this", messageId: about.id } as const;
    const opened = discord.interact(GENERAL, PERSON, command);
    await eventually(() => opened.form !== undefined, "the form is opened");
    const asked = discord.interact(GENERAL, PERSON, { kind: "submit", opened, text: "Since when?" });
    await eventually(() => asked.message?.content === "Since noon.", "the question is answered");
    await started.settled();
    const request = JSON.stringify(modelRequests(world.anthropic)[0]?.body.messages);
    expect(request).toContain("Since when?");
    expect(request).toContain(content);
  });

  it("registers its commands, and answers one in its interaction", async () => {
    const { discord, started } = await openDiscord();
    await eventually(() => discord.commands.length > 0, "the commands are registered");
    expect(discord.commands).toContainEqual(expect.objectContaining({ name: "status", type: 1 }));
    const interaction = discord.interact(GENERAL, PERSON, { kind: "command", name: "status" });
    await eventually(() => (interaction.message?.content ?? "") !== "", "the command is answered");
    await started.settled();
    expect(interaction.answeredWith).toBe(5);
    // The answer is in its place, and nowhere else.
    expect(answersIn(discord, GENERAL)).toHaveLength(1);
  });

  it("finishes the answer to a command as normal messages if the interaction has expired", async () => {
    const { world, discord, started } = await openDiscord({ start: { drafts: { afterMs: 0, everyMs: 0 } } });
    const begun = Promise.withResolvers<void>();
    const long = Array.from({ length: 60 }, (_, index) => `Line ${index} of a very long answer.`).join(
      "\n\n",
    );
    world.script(async () => {
      begun.resolve();
      return { text: long, chunks: 20, deltaMs: 60 };
    });
    await eventually(() => discord.commands.length > 0, "the commands are registered");
    const interaction = discord.interact(GENERAL, PERSON, {
      kind: "command",
      name: "new",
      options: [{ name: "message", value: "tell me all" }],
    });
    await begun.promise;
    await eventually(() => (interaction.message?.content ?? "") !== "", "it begins where the command waits");
    discord.age(16 * 60_000);
    await started.settled();
    expect(textsIn(discord, GENERAL).join("\n\n")).toContain(long);
  });

  it("streams a long answer, and splits it into as many messages as needed", async () => {
    const { world, discord, direct, say } = await openDiscord({
      start: { drafts: { afterMs: 0, everyMs: 0 } },
    });
    const paragraph = "It looks around, and then it **writes** what it has seen. ".repeat(8);
    const long = Array.from({ length: 12 }, (_, index) => `## Part ${index}\n\n${paragraph}`).join("\n\n");
    const slowly: ScriptedTurn = { text: long, chunks: 12, deltaMs: 40 };
    world.script([slowly]);
    await say(direct, "tell me all");
    const answers = answersIn(discord, direct);
    expect(answers.length).toBeGreaterThan(2);
    expect(answers[0]?.contents.length).toBeGreaterThan(2);
    for (const { content } of answers) expect(content.length).toBeLessThanOrEqual(2_000);
    expect(
      answers
        .map(({ content }) => content)
        .join("\n\n")
        .replace(/\s+/g, " "),
    ).toBe(long.replace(/\s+/g, " ").trim());
  });

  it("shows the model an image, and sends a file", async () => {
    const { world, discord, direct, say } = await openDiscord();
    mkdirSync(world.home.workspace("coder"), { recursive: true });
    writeFileSync(join(world.home.workspace("coder"), "report.csv"), "a,b\n1,2\n");
    world.script([{ text: "Here you are.\nMEDIA:report.csv" }]);
    const attachments = [
      { id: "8001", name: "chart.png", mimeType: "image/png", content: new Uint8Array(PNG) },
    ];
    await say(direct, "what is this?", { attachments });
    const [request] = modelRequests(world.anthropic);
    expect(JSON.stringify(request?.body.messages)).toContain(PNG.toString("base64"));
    expect(
      answersIn(discord, direct).map(({ content, attachments: sent }) => [content, sent[0]?.name]),
    ).toEqual([
      ["Here you are.", undefined],
      ["", "report.csv"],
    ]);
  });

  it("resumes its session after a restart, or otherwise reads the missed messages", async () => {
    const { world, discord, direct, say, started } = await openDiscord();
    world.script(() => ({ text: "Yes." }));
    await say(direct, "before");
    await started.stop();
    discord.say({ channelId: direct, authorId: PERSON, content: "while it was down" });
    const again = await world.start();
    await eventually(() => textsIn(discord, direct).length === 2, "what was missed is answered");
    await again.settled();
    expect([discord.gateway.identifies, discord.gateway.resumes]).toEqual([1, 1]);
    await again.stop();
    discord.gateway.invalidate();
    discord.plant({ channelId: direct, authorId: PERSON, content: "after the session's end" });
    const third = await world.start();
    await eventually(() => textsIn(discord, direct).length === 3, "what no session has is answered");
    await third.settled();
    expect(discord.gateway.identifies).toBe(2);
    expect((await inboxRows(world)).map(({ state }) => state)).toEqual(["replied", "replied", "replied"]);
  });

  it("handles events once that Discord repeats because a killed process had not stored its position", async () => {
    const { world, discord, direct, say, started } = await openDiscord();
    world.script(() => ({ text: "Yes." }));
    await eventually(() => discord.commands.length > 0, "the commands are registered");
    await say(direct, "once");
    const command = discord.interact(direct, PERSON, { kind: "command", name: "status" });
    await eventually(() => (command.message?.content ?? "") !== "", "the command is answered");
    await started.stop();
    const before = textsIn(discord, direct);
    await inStore(world, async ({ kv }) => {
      const [session] = (await kv.list("channel/discord")).filter(({ key }) => key.endsWith("/session"));
      if (!isPayload(session?.value)) throw new Error("no session is kept");
      await kv.set("channel/discord", session.key, { ...session.value, sequence: 1 });
    });
    const again = await world.start();
    const later = discord.say({ channelId: direct, authorId: PERSON, content: "and another" });
    await eventually(() => discord.acknowledged(later.sequence ?? 0), "everything is taken");
    await again.settled();
    expect(discord.gateway.resumes).toBe(1);
    expect(textsIn(discord, direct)).toEqual([...before, "Yes."]);
    expect(await ends(world)).toHaveLength(3);
  });

  it("never answers another bot", async () => {
    const { world, discord, started } = await openDiscord({
      config: { access: { dm: "open", groups: { mode: "open", requireMention: false } } },
    });
    world.script(() => ({ text: "And you?" }));
    for (let round = 0; round < 25; round += 1)
      discord.say({ channelId: GENERAL, authorId: OTHER_BOT, content: "<@1000> how are you?" });
    await eventually(async () => (await inboxRows(world)).length === 25, "all are taken");
    await started.settled();
    expect(answersIn(discord, GENERAL)).toEqual([]);
    expect(await ends(world)).toEqual(Array.from({ length: 25 }, () => ["ignored", "bot"]));
  });

  it("answers a mention by a bot if allowed, and pauses if the two bots loop", async () => {
    const { world, discord, started } = await openDiscord({
      config: {
        access: {
          dm: "open",
          groups: { mode: "allowlist", allow: [`discord:${GENERAL}`], bots: "mentioned" },
        },
      },
    });
    world.script(() => ({ text: "And you?" }));
    for (let count = 1; count <= 25; count++) {
      const { sequence } = discord.say({
        channelId: GENERAL,
        authorId: OTHER_BOT,
        content: `<@1000> well? (${count})`,
      });
      await eventually(() => discord.acknowledged(sequence ?? 0), "the message is taken");
      await started.settled();
    }
    expect(textsIn(discord, GENERAL)).toHaveLength(20);
    expect((await ends(world)).slice(20)).toEqual(Array(5).fill(["ignored", "bot_loop"]));
  });
});
