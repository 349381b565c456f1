import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  click,
  commandMessage,
  type FakeTelegram,
  groupMention,
  person,
  startTelegram,
  textMessage,
} from "@signalbox/testkit/telegram";
import { describe, expect, it, onTestFinished } from "vitest";
import { ends, eventually, exampleConfig, openWorld, type Started, type World } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const token = "42:secret-of-the-bot-0123456789";
const group = { id: -1_001_234, type: "supergroup", title: "Team" } as const;
const png = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

interface Talk {
  readonly world: World;
  readonly telegram: FakeTelegram;
  readonly started: Started;
  /** Has Telegram deliver it, and waits until it is answered. */
  say(update: Parameters<FakeTelegram["push"]>[0]): Promise<void>;
}

async function open(
  more: Record<string, unknown> = {},
  options: Parameters<World["start"]>[0] = {},
  skills: readonly string[] = [],
): Promise<Talk> {
  const world = await openWorld();
  for (const name of skills) {
    const folder = join(world.home.skillsDir, name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, "SKILL.md"),
      `---\nname: ${name}\ndescription: How to ${name}.\n---\nDo it.\n`,
    );
  }
  const telegram = await startTelegram({ token, users: [person] });
  onTestFinished(() => telegram.stop());
  world.configure(
    exampleConfig({
      channels: { telegram: { accounts: { main: { botToken: token, apiBaseUrl: telegram.url } } } },
      ...more,
    }),
  );
  const started = await world.start(options);
  return {
    world,
    telegram,
    started,
    async say(update) {
      await telegram.push(update);
      await started.settled();
    },
  };
}

/** What stands in the chats, in order. */
function said({ telegram }: Talk): string[] {
  return telegram.sent.filter(({ deleted }) => !deleted).map(({ text }) => text);
}

/** The commands that Telegram lists. */
async function listedBy({ telegram }: Talk): Promise<string[]> {
  await eventually(() => telegram.commands.list.length > 0, "the commands are listed");
  return telegram.commands.list.map(({ command }) => String(command));
}

const model = "anthropic/claude-sonnet-4-6";
/** An agent that has one skill only. */
const clerk = { id: "clerk", model, skills: { allow: ["translate"] } };

describe("an agent on Telegram", () => {
  it("answers a private message, a mention in a group and one in a topic in place", async () => {
    const talk = await open();
    talk.world.script(() => ({ text: "**yes**" }));
    await talk.say(textMessage("are you there?", { messageId: 11 }));
    await talk.say(groupMention("and here?", "signalbox_bot", { messageId: 12 }));
    await talk.say(textMessage("not for you", { chat: group }));
    await talk.say(groupMention("and there?", "signalbox_bot", { messageId: 14, chat: group, topicId: 9 }));
    expect(talk.telegram.sent).toMatchObject([
      { chatId: "5001", text: "yes", replyTo: 11, entities: [{ type: "bold", offset: 0, length: 3 }] },
      { chatId: "-1001234", text: "yes", replyTo: 12 },
      { chatId: "-1001234", text: "yes", replyTo: 14, topicId: 9 },
    ]);
    expect(await ends(talk.world)).toEqual([
      ["replied", undefined],
      ["replied", undefined],
      ["ignored", "not_addressed"],
      ["replied", undefined],
    ]);
  });

  it("lists its commands, and answers one", async () => {
    const talk = await open();
    expect(await listedBy(talk)).toContain("status");
    await talk.say(commandMessage("/status"));
    expect(said(talk)[0]).toContain("Agent: ");
    expect(talk.world.anthropic.requests).toEqual([]);
  });

  it("lists the commands of skills that its agents have, and has the agent follow one", async () => {
    const talk = await open(
      {
        agents: { list: [{ id: "coder", model }, clerk] },
        bindings: [{ agent: "clerk", match: { channel: "slack" } }],
      },
      {},
      ["paint", "translate"],
    );
    const listed = await listedBy(talk);
    expect(listed).toEqual(expect.arrayContaining(["status", "paint", "translate"]));
    talk.world.script([{ text: "done" }]);
    await talk.say(commandMessage("/paint a clock"));
    const asked = modelRequests(talk.world.anthropic)[0]?.messages.at(-1)?.text;
    expect(asked).toMatch(/Follow the skill paint[\s\S]*a clock/);
  });

  it("lists no command of a skill that one of its agents lacks", async () => {
    const talk = await open(
      {
        agents: { list: [{ id: "coder", model }, clerk] },
        bindings: [{ agent: "clerk", match: { channel: "telegram", peer: { kind: "group", id: "*" } } }],
      },
      {},
      ["paint", "translate"],
    );
    const listed = await listedBy(talk);
    expect(listed).toContain("translate");
    expect(listed).not.toContain("paint");
  });

  it("asks an owner with buttons, and the request shows the decision", async () => {
    const talk = await open({
      access: { dm: "open", groups: { mode: "open" }, owners: [`telegram:${person.id}`] },
    });
    const write = { name: "write", input: { file_path: "SOUL.md", content: "Be bold." } };
    talk.world.script([{ toolCalls: [{ id: "toolu_soul", ...write }] }, { text: "as you say" }]);
    await talk.telegram.push(textMessage("the new motto is: be bold", { chat: group, from: { id: 5_002 } }));
    await talk.telegram.push(groupMention("write the motto down", "signalbox_bot", { chat: group }));
    await eventually(() => talk.telegram.sent.length > 0, "the question is put");
    const [question] = talk.telegram.sent;
    const keyboard = question?.keyboard as { inline_keyboard: { text: string; callback_data: string }[][] };
    expect(keyboard.inline_keyboard.map(([button]) => button?.text)).toEqual(["Allow", "Deny"]);
    const data = keyboard.inline_keyboard[0]?.[0]?.callback_data ?? "";
    await talk.say(click(data, { chatId: question?.chatId ?? "", messageId: question?.messageId ?? 0 }));
    expect(said(talk)).toContain("as you say");
    expect(talk.telegram.answered).toHaveLength(1);
  });

  it("streams a long answer completely", async () => {
    const talk = await open({}, { drafts: { afterMs: 0, everyMs: 0 } });
    const long = Array.from({ length: 400 }, (_, index) => `Line ${index} of a long answer, 一行。`).join(
      "\n\n",
    );
    talk.world.script([{ text: long, chunks: 20, deltaMs: 60 }]);
    await talk.say(textMessage("tell me"));
    const [first, ...rest] = talk.telegram.sent;
    expect(first?.texts.length).toBeGreaterThan(1);
    expect(first?.texts.some((text) => text.endsWith("…") || text.length < (first?.text.length ?? 0))).toBe(
      true,
    );
    expect([first?.text, ...rest.map(({ text }) => text)].join("\n\n")).toBe(long);
  });

  it("reads an image, and sends a file", async () => {
    const talk = await open();
    talk.telegram.addFile("photo-1", png, { path: "photos/file_1.png" });
    talk.world.script([
      { toolCalls: [{ id: "t1", name: "write", input: { file_path: "note.txt", content: "seen" } }] },
      { text: "A dot.\nMEDIA:note.txt" },
    ]);
    await talk.say(
      textMessage("", {
        fields: {
          text: undefined,
          caption: "what is it?",
          photo: [
            { file_id: "photo-1", file_unique_id: "u", width: 1, height: 1, file_size: png.byteLength },
          ],
        },
      }),
    );
    const [request] = modelRequests(talk.world.anthropic);
    expect(JSON.stringify(request?.body.messages)).toContain(png.toString("base64").slice(0, 40));
    const [file] = talk.telegram.sent.flatMap(({ media }) => media ?? []);
    expect(file).toMatchObject({ kind: "document", file: { name: "note.txt" } });
    expect(
      createHash("sha1")
        .update(file?.file.content ?? "")
        .digest("hex"),
    ).toBe(createHash("sha1").update("seen").digest("hex"));
  });

  it("handles an album as one message with all its images", async () => {
    const talk = await open();
    talk.world.script([{ text: "Two dots." }]);
    const pictures = ["a", "b"].map((id) => {
      talk.telegram.addFile(id, png, { path: `photos/${id}.png` });
      const photo = [
        { file_id: id, file_unique_id: `u-${id}`, width: 1, height: 1, file_size: png.byteLength },
      ];
      const caption = id === "a" ? { caption: "what are they?" } : {};
      return textMessage("", { fields: { text: undefined, media_group_id: "album-1", photo, ...caption } });
    });
    await Promise.all(pictures.map((picture) => talk.telegram.push(picture)));
    await talk.started.settled();
    expect(said(talk)).toEqual(["Two dots."]);
    const [request, ...more] = modelRequests(talk.world.anthropic);
    expect(more).toEqual([]);
    const asked = JSON.stringify(request?.body.messages);
    expect(asked.split(png.toString("base64"))).toHaveLength(3);
    expect(asked).toContain("what are they?");
    expect(await ends(talk.world)).toEqual([["replied", undefined]]);
  });

  it("answers a mention by a bot if allowed, and pauses if the two bots loop", async () => {
    const talk = await open({ access: { dm: "open", groups: { mode: "open", bots: "mentioned" } } });
    talk.world.script(() => ({ text: "And you?" }));
    const bot = { id: 5_009, firstName: "Other", isBot: true };
    for (let count = 1; count <= 25; count++)
      await talk.say(groupMention(`well? (${count})`, "signalbox_bot", { chat: group, from: bot }));
    expect(said(talk)).toEqual(Array(20).fill("And you?"));
    expect((await ends(talk.world)).slice(20)).toEqual(Array(5).fill(["ignored", "bot_loop"]));
  });

  it("answers messages once that arrived while it was down", async () => {
    const talk = await open();
    talk.world.script(() => ({ text: "late, but here" }));
    await talk.started.stop();
    const missed = talk.telegram.push(textMessage("anybody?"));
    const again = await talk.world.start();
    await missed;
    await again.settled();
    expect(said(talk)).toEqual(["late, but here"]);
  });
});
