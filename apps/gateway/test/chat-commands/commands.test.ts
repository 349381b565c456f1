import { groupMention, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { ask, from, OWNED, open, said } from "../support/feishu-talk.ts";
import { ends, inStore, LI, ZHANG } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

describe("slash commands", () => {
  it("are answered in the conversation without the model, and leave no trace in its history", async () => {
    const { world, started } = await open();
    world.script([{ text: "hello" }]);
    const help = await ask(started, "/help");
    for (const text of ["/status", "/whoami", "/usage", "/queue", "/skill", "/model", "/think", "/approve"])
      await ask(started, text);
    expect(world.anthropic.requests).toHaveLength(0);
    expect(said(world)).toEqual([
      expect.stringContaining("/compact – "),
      expect.stringContaining("model anthropic/claude-sonnet-4-6, thinking off"),
      expect.stringContaining(`feishu:${ZHANG}, an owner`),
      expect.stringContaining("0 tokens in (0 cached), 0 out, 0 model calls, $0.000000"),
      expect.stringContaining("Queue mode: steer"),
      expect.stringContaining("create_python_script"),
      expect.stringContaining("- anthropic/claude-haiku-4-5"),
      expect.stringContaining("off, minimal, low, medium, high, max"),
      "No tool call needs approval.",
    ]);
    expect(said(world)[0]).toContain("/create_python_script [text] – ");
    expect(said(world)[1]).toMatch(/nothing running, 0 waiting, queue mode steer\.$/m);
    await ask(started, "hi");
    const [request] = modelRequests(world.anthropic);
    expect(request?.messages).toHaveLength(1);
    expect(await ends(world)).toEqual([
      ...["help", "status", "whoami", "usage", "queue", "skill", "model", "think", "approve"].map((name) => [
        "replied",
        `command:${name}`,
      ]),
      ["replied", undefined],
    ]);
    expect(world.feishu.sent[0]?.parentId).toBe(help);
  });

  it("/start greets by the agent's name and is in no list of commands", async () => {
    const { world, started } = await open();
    await ask(started, "/start");
    await ask(started, "/start from-a-link", LI);
    await ask(started, "/help");
    const [first, second, help] = said(world);
    expect(first).toBe("Hello! I am 代码助手. Write to me what you need. /help lists the commands.");
    expect(second).toBe(first);
    expect(help).not.toContain("/start");
    expect(world.anthropic.requests).toHaveLength(0);
  });

  it("that the sender may not use are rejected and not executed", async () => {
    const { world, started } = await open();
    world.script([{ text: "hello" }]);
    await ask(started, "hi", LI);
    for (const text of [
      "/model anthropic/claude-haiku-4-5",
      "/think high",
      "/compact",
      "/approve ABCD2345 allow",
    ])
      await ask(started, text, LI);
    await ask(started, "/queue collect", LI);
    expect(said(world)).toEqual([
      "hello",
      "Only owners may use /model.",
      "Only owners may use /think.",
      "Only owners may use /compact.",
      "Only owners may use /approve.",
      "Only an owner can change the queue mode.",
    ]);
    const sessions = await inStore(world, (store) => store.sessions.list());
    expect(sessions).toMatchObject([{ messageCount: 2 }]);
    expect(sessions[0]?.model).toBeUndefined();
    expect(sessions[0]?.thinking).toBeUndefined();
    expect(world.anthropic.requests).toHaveLength(1);
  });

  it("in a group work only if they address the bot, and not for guests", async () => {
    const { world, started } = await open({
      access: { ...OWNED, groups: { mode: "open", requireMention: false } },
    });
    world.script([{ text: "I read that as text" }]);
    const group = (senderId: string) => ({
      ...from(senderId),
      chatType: "group" as const,
      chatId: "oc_group",
    });
    await started.post(textMessage("/whoami", group(ZHANG)));
    await started.settled();
    await started.post(groupMention("/whoami", world.feishu.bot, group(ZHANG)));
    await started.settled();
    await started.post(groupMention("/whoami", world.feishu.bot, group(LI)));
    await started.settled();
    expect(said(world)).toEqual([
      "I read that as text",
      expect.stringContaining("an owner"),
      "Only people whom an owner has let in may use /whoami.",
    ]);
    expect(world.anthropic.requests).toHaveLength(1);
  });

  it("/stop stops the running turn at once, and drops what was waiting", async () => {
    const { world, started } = await open({ session: { queue: { mode: "followup" } } });
    const asked = Promise.withResolvers<void>();
    const hold = Promise.withResolvers<void>();
    world.script(async (_body, index) => {
      if (index > 0) return { text: "the next one" };
      asked.resolve();
      await hold.promise;
      return { text: "too late" };
    });
    await started.post(textMessage("work for hours", from(ZHANG)));
    await asked.promise;
    await started.post(textMessage("and then this", from(ZHANG)));
    await started.post(textMessage("/stop", from(ZHANG)));
    await started.settled();
    hold.resolve();
    expect(said(world)).toEqual(["Stopped. 1 waiting message was dropped."]);
    expect(await ends(world)).toEqual([
      ["silent", "stopped"],
      ["ignored", "stopped"],
      ["replied", "command:stop"],
    ]);
    await ask(started, "/stop");
    expect(said(world).at(-1)).toBe("Nothing was running.");
    await ask(started, "go on");
    expect(said(world).at(-1)).toBe("the next one");
  });

  it("/new starts a new conversation, with or without its first message", async () => {
    const { world, started } = await open();
    world.script([{ text: "one" }, { text: "two" }, { text: "three" }]);
    await ask(started, "first");
    await ask(started, "/new");
    await ask(started, "second");
    await ask(started, "/reset third");
    expect(said(world)).toEqual(["one", "Started a new conversation.", "two", "three"]);
    const requests = modelRequests(world.anthropic);
    expect(requests.map(({ messages }) => messages.length)).toEqual([1, 1, 1]);
    expect(requests[2]?.messages[0]?.text).toMatch(/third$/);
    expect(requests[2]?.messages[0]?.text).not.toContain("/reset");
    // What was said before is still there for people.
    const kept = await inStore(world, async (store) => {
      const [session] = await store.sessions.list();
      return store.sessions.transcript(session?.key ?? "");
    });
    expect(kept).toHaveLength(6);
  });

  it("/compact replaces older messages by a summary, and its cost is counted", async () => {
    const { world, started } = await open();
    const long = "word ".repeat(400);
    const usage = { input: 1_000, output: 10 };
    world.script([
      ...[1, 2, 3, 4].map((n) => ({ text: `answer ${n}`, usage })),
      { text: "They counted to four.", usage: { input: 2_000, output: 30 } },
      { text: "five", usage },
    ]);
    await ask(started, "/compact");
    for (const n of [1, 2, 3, 4]) await ask(started, `${n} ${long}`);
    await ask(started, "/compact");
    await ask(started, "/usage");
    await ask(started, "and five?");
    const replies = said(world);
    expect(replies[0]).toBe("Nothing to compact yet.");
    expect(replies[5]).toMatch(/^Replaced \d of 8 messages with a summary/);
    // Sonnet 4.6: 3 dollars a million tokens in, 15 out; whole micros.
    const micros = 6_000 * 3 + 70 * 15;
    expect(replies[6]).toContain(
      `This conversation: 6,000 tokens in (0 cached), 70 out, 5 model calls, $0.0${micros}`,
    );
    const last = world.anthropic.requests.at(-1)?.text;
    expect(last).toContain("They counted to four.");
    expect(last).not.toContain("answer 1");
    expect(await ends(world)).toContainEqual(["replied", "command:compact"]);
  });

  it("/why explains a message to the people it concerns", async () => {
    const { world, started } = await open();
    world.script([{ text: "for the owner" }, { text: "for the member" }]);
    const secret = await ask(started, "mine");
    await ask(started, "/why details");
    await ask(started, "theirs", LI);
    await ask(started, `/why ${secret}`, LI);
    await ask(started, "/why", LI);
    await ask(started, "/why details", LI);
    const [, why, , refused, short, own] = said(world);
    for (const stage of [
      "replied",
      "accept: ",
      "admit: agent coder by default",
      "answer: owner",
      "run: anthropic/",
    ])
      expect(why).toContain(stage);
    expect(refused).toBe(`Message ${secret} was not found here.`);
    expect(short).toMatch(
      /^“theirs”: It was answered by agent coder: access\.dm is open to everyone \(dm_open\)\.$/,
    );
    expect(own).toContain("answer: dm_open");
  });

  it("/queue sets a conversation's mode, which survives a restart", async () => {
    const { world, started } = await open();
    await ask(started, "/queue sometimes");
    await ask(started, "/queue collect");
    await started.stop();
    const again = await world.start();
    await ask(again, "/queue");
    await ask(again, "/queue default");
    expect(said(world)).toEqual([
      "Unknown queue mode sometimes. Choose one of: steer, followup, collect, interrupt, default.",
      "Queue mode: collect (for this conversation). 0 messages waiting.",
      "Queue mode: collect (for this conversation). 0 messages waiting.",
      "Queue mode: steer. 0 messages waiting.",
    ]);
  });
});

describe("directives", () => {
  it("before a message apply to its run", async () => {
    const { world, started } = await open();
    world.script([{ text: "a" }, { text: "b" }]);
    await ask(started, "/think high /model anthropic/claude-haiku-4-5 why?");
    await ask(started, "and now?");
    const [one, two] = modelRequests(world.anthropic);
    expect(one?.body.model).toBe("claude-haiku-4-5");
    expect(one?.body["thinking"]).toBeDefined();
    expect(one?.messages[0]?.text).toMatch(/: why\?$/);
    expect(two?.body.model).toBe("claude-sonnet-4-6");
    expect(two?.body["thinking"]).toBeUndefined();
    // The history has what was meant, not how it was ordered.
    expect(two?.messages[0]?.text).toMatch(/: why\?$/);
  });

  it("without a text apply to the conversation until they are reset", async () => {
    const { world, started } = await open();
    world.script([{ text: "a" }, { text: "b" }]);
    await ask(started, "/model claude-haiku-4-5");
    await ask(started, "/think low");
    await started.stop();
    const again = await world.start();
    await ask(again, "hello");
    await ask(again, "/model default");
    await ask(again, "/think default");
    await ask(again, "hello");
    const [one, two] = modelRequests(world.anthropic);
    expect(one?.body.model).toBe("claude-haiku-4-5");
    expect(one?.body["thinking"]).toBeDefined();
    expect(two?.body.model).toBe("claude-sonnet-4-6");
    expect(two?.body["thinking"]).toBeUndefined();
    expect(said(world)[0]).toBe("Model set to anthropic/claude-haiku-4-5, starting with the next turn.");
  });

  it("with an unknown value are answered with the possible ones, without a run", async () => {
    const { world, started } = await open();
    await ask(started, "/model anthropic/claude-nonsense write me a poem");
    await ask(started, "/model openai/gpt-5.2");
    await ask(started, "/think hard write me a poem");
    expect(said(world)).toEqual([
      expect.stringMatching(
        /^There is no usable model named anthropic\/claude-nonsense\.[\s\S]*- anthropic\/claude-sonnet-4-6/,
      ),
      expect.stringMatching(/^There is no usable model named openai\/gpt-5.2\./),
      expect.stringMatching(/^Unknown thinking level hard\. Choose one of: off, /),
    ]);
    expect(world.anthropic.requests).toHaveLength(0);
  });
});
