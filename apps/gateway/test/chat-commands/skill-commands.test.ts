import { groupMention } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { ask, from, OWNED, PYTHON_SKILL, said } from "../support/feishu-talk.ts";
import {
  ends,
  exampleConfig,
  inboxRows,
  inStore,
  LI,
  openWorld,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

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

describe("commands of skills", () => {
  const agents = (allow: string[], skills = ["glance", "reach", "create-python-script"]) => ({
    agents: {
      defaults: { model: "anthropic/claude-sonnet-4-6" },
      list: [{ id: "coder", tools: { allow }, skills: { allow: skills } }],
    },
  });
  const files = {
    "notes.md": "Friday at ten.\n",
    "skills/create-python-script/SKILL.md": PYTHON_SKILL,
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
    expect(trace?.entries.map(({ summary }) => summary).join("\n")).toContain("read: allow (agent_allow)");
    expect(await ends(world)).toEqual([["replied", "command:glance"]]);
    await ask(started, "/create_python_script that counts");
    const [request] = modelRequests(world.anthropic);
    expect(request?.messages).toHaveLength(1);
    expect(request?.messages[0]?.text).toMatch(/create-python-script[\s\S]*that counts$/);
    await ask(started, "/skill nothing");
    expect(said(world).at(-1)).toMatch(
      /^There is no skill named nothing\. Available skills:\n[\s\S]*- glance: /,
    );
  });

  it("are limited by the sender's rights and the policy", async () => {
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
      expect.stringContaining("There is no skill named reach."),
      "Only people whom an owner has let in may use /glance.",
    ]);
    expect(world.anthropic.requests).toHaveLength(0);
  });
});

describe("after a crash", () => {
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
    const [row] = await inboxRows(world);
    return row?.payload.event.address ?? "";
  }

  it("a command that was accepted is answered", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ access: OWNED }));
    const address = await addressOf(world);
    await leave(world, "/new", address);
    const started = await world.start();
    await started.settled();
    expect(said(world).slice(1)).toEqual(["Started a new conversation."]);
    expect(await ends(world)).toContainEqual(["replied", "command:new"]);
  });

  it("a tool that may have run is not run again, and the person is informed", async () => {
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
