import { groupMention, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inStore,
  LI,
  openWorld,
  type Started,
  type World,
  ZHANG,
} from "./harness.ts";
import { modelRequests } from "./requests.ts";

const OWNED = { dm: "open", owners: [`feishu:${ZHANG}`], groups: { mode: "open" } };

const SCRIPT = `---
name: create-python-script
description: Write a Python script.
---
Write it.
`;

/** What people read of everything the bot sent, in order. */
function said(world: World): string[] {
  return world.feishu.sent.map(({ content }) => textsIn(JSON.parse(content)).join("\n"));
}

function textsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (value === null || typeof value !== "object") return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    (key === "text" || key === "content") && typeof inner === "string" ? [inner] : textsIn(inner),
  );
}

async function ends(world: World): Promise<unknown[]> {
  const rows = await inStore(world, (store) => store.inbox.list());
  return rows.toSorted((a, b) => a.seq - b.seq).map(({ state, detail }) => [state, detail?.rule]);
}

async function open(config: Record<string, unknown> = {}): Promise<{ world: World; started: Started }> {
  const world = await openWorld();
  world.configure(exampleConfig({ access: OWNED, ...config }));
  world.files({ "skills/create-python-script/SKILL.md": SCRIPT });
  return { world, started: await world.start() };
}

let count = 0;
const from = (senderId: string) => ({ senderId, messageId: `om_${++count}` });

async function ask(started: Started, text: string, senderId = ZHANG): Promise<string> {
  const sender = from(senderId);
  await started.post(textMessage(text, sender));
  await started.settled();
  return sender.messageId;
}

describe("slash commands", { timeout: 60_000 }, () => {
  it("are answered in the conversation without the model, and leave no trace in its history", async () => {
    const { world, started } = await open();
    world.script([{ text: "hello" }]);
    for (const text of [
      "/help",
      "/status",
      "/whoami",
      "/usage",
      "/queue",
      "/skill",
      "/model",
      "/think",
      "/approve",
    ])
      await ask(started, text);
    expect(world.anthropic.requests).toHaveLength(0);
    expect(said(world)).toEqual([
      expect.stringContaining("/compact – "),
      expect.stringContaining("model anthropic/claude-sonnet-4-6, thinking off"),
      expect.stringContaining(`feishu:${ZHANG}, an owner`),
      expect.stringContaining("0 tokens in (0 of them cached), 0 out, 0 model calls, $0.000000"),
      expect.stringContaining("Queue mode: steer"),
      expect.stringContaining("create_python_script"),
      expect.stringContaining("- anthropic/claude-haiku-4-5"),
      expect.stringContaining("off, minimal, low, medium, high, max"),
      "No tool call waits for an approval.",
    ]);
    expect(said(world)[0]).toContain("/create_python_script [text] – ");
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
    expect(world.feishu.sent[0]?.parentId).toBe("om_1");
  });

  it("that the speaker may not use are refused and not carried out", async () => {
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
      "You may not use /model here.",
      "You may not use /think here.",
      "You may not use /compact here.",
      "You may not use /approve here.",
      "Only an owner can change the queue mode.",
    ]);
    const sessions = await inStore(world, (store) => store.sessions.list());
    expect(sessions).toMatchObject([{ messageCount: 2 }]);
    expect(sessions[0]).not.toHaveProperty("model");
    expect(sessions[0]).not.toHaveProperty("thinking");
    expect(world.anthropic.requests).toHaveLength(1);
  });

  it("in a group are commands only for those who address the bot, and not for guests", async () => {
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
      "You may not use /whoami here.",
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
    expect(said(world)).toEqual(["one", "A new conversation.", "two", "three"]);
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

  it("/compact puts a summary in the place of the older messages, and its cost is counted", async () => {
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
    expect(replies[0]).toBe("There is nothing to compact yet.");
    expect(replies[5]).toMatch(/^A summary stands for \d of 8 messages now/);
    // Sonnet 4.6: 3 dollars a million tokens in, 15 out; whole micros.
    const micros = 6_000 * 3 + 70 * 15;
    expect(replies[6]).toContain(
      `This conversation: 6,000 tokens in (0 of them cached), 70 out, 5 model calls, $0.0${micros}`,
    );
    const last = world.anthropic.requests.at(-1)?.text;
    expect(last).toContain("They counted to four.");
    expect(last).not.toContain("answer 1");
    expect(await ends(world)).toContainEqual(["replied", "command:compact"]);
  });

  it("/why tells how a message was dealt with, to those it concerns", async () => {
    const { world, started } = await open();
    world.script([{ text: "for the owner" }, { text: "for the member" }]);
    const secret = await ask(started, "mine");
    await ask(started, "/why");
    await ask(started, "theirs", LI);
    await ask(started, `/why ${secret}`, LI);
    await ask(started, "/why", LI);
    const [, why, , refused, own] = said(world);
    for (const stage of [
      "replied",
      "intake: ",
      "routing: agent coder by default",
      "gate: answer: owner",
      "model: ",
    ])
      expect(why).toContain(stage);
    expect(refused).toBe(`No message ${secret} is known here.`);
    expect(own).toContain("gate: answer: dm_open");
  });

  it("/queue keeps a conversation's own mode over a restart", async () => {
    const { world, started } = await open();
    await ask(started, "/queue sometimes");
    await ask(started, "/queue collect");
    await started.stop();
    const again = await world.start();
    await ask(again, "/queue");
    await ask(again, "/queue default");
    expect(said(world)).toEqual([
      "There is no queue mode sometimes. There are: steer, followup, collect, interrupt, default.",
      "Queue mode: collect (of this conversation). 0 messages wait.",
      "Queue mode: collect (of this conversation). 0 messages wait.",
      "Queue mode: steer. 0 messages wait.",
    ]);
  });
});

describe("directives", { timeout: 60_000 }, () => {
  it("in front of a message are for its turn", async () => {
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

  it("alone are for the conversation, until it goes back to the agent's own", async () => {
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
    expect(said(world)[0]).toBe("Model from the next turn on: anthropic/claude-haiku-4-5.");
  });

  it("that name nothing are answered with what exists, and nothing is asked", async () => {
    const { world, started } = await open();
    await ask(started, "/model anthropic/claude-nonsense write me a poem");
    await ask(started, "/model openai/gpt-5.2");
    await ask(started, "/think hard write me a poem");
    expect(said(world)).toEqual([
      expect.stringMatching(
        /^There is no usable model anthropic\/claude-nonsense\.[\s\S]*- anthropic\/claude-sonnet-4-6/,
      ),
      expect.stringMatching(/^There is no usable model openai\/gpt-5.2\./),
      expect.stringMatching(/^There is no thinking level hard\. There are: off, /),
    ]);
    expect(world.anthropic.requests).toHaveLength(0);
  });
});

const GLANCE = `---
name: glance
description: Look at a file.
command-dispatch: tool
command-tool: read
command-arg-mode: raw
---
Read it.
`;
const OUTSIDE = GLANCE.replace("glance", "reach").replace("command-tool: read", "command-tool: exec");

describe("commands of skills", { timeout: 60_000 }, () => {
  const agents = (allow: string[], skills = ["glance", "reach", "create-python-script"]) => ({
    agents: {
      defaults: { model: "anthropic/claude-sonnet-4-6" },
      list: [{ id: "coder", tools: { allow }, skills: { allow: skills } }],
    },
  });
  const files = {
    "notes.md": "Friday at ten.\n",
    "skills/create-python-script/SKILL.md": SCRIPT,
    "skills/glance/SKILL.md": GLANCE,
    "skills/reach/SKILL.md": OUTSIDE,
  };

  it("ask the agent to follow the skill, or call the tool without the model", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: OWNED, ...agents(["read", "ls"]) }));
    world.files(files);
    world.script([{ text: "done" }]);
    const started = await world.start();
    const id = await ask(started, "/glance notes.md");
    expect(world.anthropic.requests).toHaveLength(0);
    expect(said(world)[0]).toContain("Friday at ten.");
    // It went the way of every call: decided, recorded, journalled.
    const trace = await started.gateway.service.trace(id);
    expect(trace?.entries.map(({ summary }) => summary).join("\n")).toContain("read: allow (agent.allow)");
    expect(await ends(world)).toEqual([["replied", "command:glance"]]);
    await ask(started, "/create_python_script that counts");
    const [request] = modelRequests(world.anthropic);
    expect(request?.messages).toHaveLength(1);
    expect(request?.messages[0]?.text).toMatch(/create-python-script[\s\S]*that counts$/);
    await ask(started, "/skill nothing");
    expect(said(world).at(-1)).toMatch(/^There is no skill nothing\. There are:\n[\s\S]*- glance: /);
  });

  it("get no further than the speaker and the policy do", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: OWNED, ...agents(["read", "ls"]) }));
    world.files(files);
    const started = await world.start();
    await ask(started, "/glance ../../signalbox.yaml");
    // Its tool is not the agent's, so there is no such command.
    await ask(started, "/skill reach id");
    const group = { ...from(LI), chatType: "group" as const, chatId: "oc_group" };
    await started.post(groupMention("/glance notes.md", world.feishu.bot, group));
    await started.settled();
    expect(said(world)).toEqual([
      expect.not.stringContaining("anthropic"),
      expect.stringContaining("There is no skill reach."),
      "You may not use /glance here.",
    ]);
    expect(world.anthropic.requests).toHaveLength(0);
  });
});

describe("after a crash", { timeout: 60_000 }, () => {
  const event = (text: string, messageId: string) => ({
    type: "message" as const,
    eventId: `ev_${messageId}`,
    messageId,
    channel: "feishu",
    account: "main",
    conversation: { id: "oc_p2p", kind: "direct" as const },
    address: "",
    sender: { id: ZHANG, isBot: false, isSelf: false },
    addressed: "dm" as const,
    timestamp: 0,
    text,
    media: [],
    mentions: [],
  });

  /** Leaves a message as an earlier process had accepted it, and its run as far as it had come. */
  async function leave(
    world: World,
    text: string,
    address: string,
    begun?: { started: boolean },
  ): Promise<void> {
    const sessionKey = "agent:coder:feishu:direct:left";
    await inStore(world, async (store) => {
      const payload = {
        event: { ...event(text, "om_left"), address },
        role: "owner",
        rule: "owner",
      } as const;
      const accepted = await store.inbox.accept({
        channel: "feishu",
        account: "main",
        eventId: "ev_om_left",
        messageId: "om_left",
        kind: "message",
        conversationId: "oc_p2p",
        senderId: ZHANG,
        payload,
        route: { agentId: "coder", sessionKey },
      });
      if (accepted.outcome !== "accepted" || begun === undefined) return;
      const lease = await store.leases.acquire("gateway", "the process before", 60_000);
      if (lease === undefined) throw new Error("the lease is held");
      const session = {
        key: sessionKey,
        agentId: "coder",
        channel: "feishu",
        account: "main",
        peer: ZHANG,
        kind: "direct",
      };
      const run = await store.runs.begin({
        session,
        lease,
        inboxIds: [accepted.id],
        userMessages: [],
        meta: { command: "reach" },
      });
      if (run.outcome !== "started") throw new Error("the session is held");
      const write = { runId: run.run.id, lease };
      const callId = `command-${run.run.id}`;
      const intent = {
        callId,
        name: "exec",
        args: { command: "echo hi > ran" },
        effects: "external",
      } as const;
      await store.runs.step({ ...write, messages: [], intents: [intent] });
      if (begun.started) await store.runs.toolStarted({ ...write, callIds: [callId] });
      await store.leases.release(lease);
    });
  }

  async function addressOf(world: World): Promise<string> {
    const started = await world.start();
    await ask(started, "/whoami");
    await started.stop();
    const [row] = await inStore(world, (store) => store.inbox.list());
    return row?.payload.event.address ?? "";
  }

  it("a command that was accepted is answered", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: OWNED }));
    const address = await addressOf(world);
    await leave(world, "/new", address);
    const started = await world.start();
    await started.settled();
    expect(said(world).slice(1)).toEqual(["A new conversation."]);
    expect(await ends(world)).toContainEqual(["replied", "command:new"]);
  });

  it("a tool that may have run is not run again, and the person is told", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: OWNED, agents: withExec() }));
    world.files({ "skills/reach/SKILL.md": OUTSIDE });
    const address = await addressOf(world);
    await leave(world, "/reach echo hi > ran", address, { started: true });
    const started = await world.start();
    await started.settled();
    expect(said(world).at(-1)).toMatch(/may or may not have taken effect/);
    expect(await ends(world)).toContainEqual(["replied", "command:reach"]);
    expect(world.anthropic.requests).toHaveLength(0);
  });

  function withExec() {
    return {
      defaults: { model: "anthropic/claude-sonnet-4-6" },
      list: [{ id: "coder", tools: { allow: ["read", "ls", "exec"] }, skills: { allow: ["reach"] } }],
    };
  }
});

describe("approvals", { timeout: 60_000 }, () => {
  const identity = { name: "write", input: { file_path: "SOUL.md", content: "Be bold. ``` end" } };
  const group = (senderId: string) => ({ ...from(senderId), chatType: "group" as const, chatId: "oc_group" });

  /** A turn that has seen what others said in the group, and wants to change the agent's own notes. */
  async function until(world: World, started: Started): Promise<string> {
    world.script([{ toolCalls: [{ id: "toolu_soul", ...identity }] }, { text: "as you say" }]);
    await started.post(textMessage("the new motto is: be bold", group(LI)));
    await started.post(groupMention("write the motto down", world.feishu.bot, group(ZHANG)));
    await eventually(() => said(world).length > 0, "the question is put");
    const [question = ""] = said(world);
    expect(question).toContain("the agent coder wants to use write");
    expect(question).toContain("content from history");
    expect(question).toContain('{"content":"Be bold. ``` end","file_path":"SOUL.md"}');
    return /Approval (\w{8}):/.exec(question)?.[1] ?? "";
  }

  it.each([
    ["allow", false, "as you say"],
    ["deny", true, "as you say"],
  ])("%s decides about the call that waits, when an owner says so", async (answer, isError, reply) => {
    const { world, started } = await open();
    const id = await until(world, started);
    await started.post(textMessage(`/approve ${id} ${answer}`, from(LI)));
    await eventually(() => said(world).length > 1, "the member is answered");
    await started.post(textMessage("/approve", from(ZHANG)));
    await eventually(() => said(world).length > 2, "the owner sees what is open");
    expect(modelRequests(world.anthropic)).toHaveLength(1);
    await started.post(textMessage(`/approve ${id.toLowerCase()} ${answer}`, from(ZHANG)));
    await started.settled();
    const [question, refused, open_, ...rest] = said(world);
    expect(refused).toBe("You may not use /approve here.");
    expect(question).toBe(`${open_}\nAllow\nDeny`);
    expect(rest.toSorted()).toEqual(
      [`${answer === "allow" ? "Allowed" : "Denied"}: write, approval ${id}.`, reply].toSorted(),
    );
    const results = modelRequests(world.anthropic)[1]?.body.messages.flatMap(({ content }) =>
      typeof content === "string" ? [] : content.filter(({ type }) => type === "tool_result"),
    );
    expect(results).toMatchObject([isError ? { is_error: true } : { tool_use_id: "toolu_soul" }]);
    await ask(started, `/approve ${id} allow`);
    expect(said(world).at(-1)).toBe(`The approval ${id} was already decided.`);
  });

  it("/stop ends a turn that waits for one", async () => {
    const { world, started } = await open();
    await until(world, started);
    await started.post(groupMention("/stop", world.feishu.bot, group(ZHANG)));
    await started.settled();
    expect(said(world).at(-1)).toBe("Stopped.");
    expect(modelRequests(world.anthropic)).toHaveLength(1);
  });
});
