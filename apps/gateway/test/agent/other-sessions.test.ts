import type { ScriptedTurn } from "@signalbox/testkit";
import { describe, expect, it } from "vitest";
import { eventually, exampleConfig, inboxRows, inStore, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { IN_GROUP, plainChannel, plainMessage } from "../support/plain-channel.ts";

const HALL = "agent:clerk:plain:main:group:hall";
const SEND = { name: "sessions_send", input: { session: HALL, message: "Please book the room." } };
const LOOK = { name: "sessions_history", input: { session: HALL } };
const LIST = { name: "sessions_list", input: { others: true } };
const IN_HALL = {
  ...IN_GROUP,
  conversation: { id: "hall", kind: "group" },
  address: "plain:hall",
  addressed: "mention",
} as const;
const MO = { sender: { id: "mo", isBot: false, isSelf: false } };

/** An agent in a group, and another one that people talk to in private. */
async function open(sessions: object) {
  const world = await openWorld();
  const allow = ["group:sessions", "read", "write"];
  world.configure(
    exampleConfig({
      agents: {
        defaults: { model: "anthropic/claude-sonnet-4-6" },
        list: [
          { id: "coder", tools: { allow } },
          { id: "clerk", tools: { allow } },
        ],
      },
      bindings: [{ agent: "clerk", match: { channel: "plain", peer: { kind: "group", id: "hall" } } }],
      channels: { plain: { accounts: { main: {} } } },
      access: { owners: ["plain:anna"], dm: "open", groups: { mode: "open" } },
      tools: { sessions },
    }),
  );
  const plain = plainChannel();
  const started = await world.start({ channels: [plain.definition] });
  const said = () =>
    plain.sent.map(({ to, message }) => `${to}: ${JSON.stringify(message.parts)}`).join("\n");
  return { world, plain, started, said };
}

type Talk = Awaited<ReturnType<typeof open>>;

/** Somebody has written to the clerk in the hall, and then somebody else to the coder in private. */
async function ask({ plain, started }: Talk, more: object = {}): Promise<void> {
  await plain.emit(plainMessage("h1", "good morning", IN_HALL));
  await started.settled();
  await plain.emit(plainMessage("m1", "have the hall's agent book the room", more));
}

function lastResult({ world }: Talk): string {
  const [last] = modelRequests(world.anthropic).slice(-1);
  return JSON.stringify(last?.body.messages.at(-1)?.content);
}

const ALL = { visibility: "all", agents: ["coder", "clerk"] };

/** The hall is greeted, and its agent asked for the room: both agents work at once, so each is told by its question. */
function booking(greeting: string) {
  return (body: unknown): ScriptedTurn => {
    const request = JSON.stringify(body);
    if (request.includes("tool_result")) return { text: "done" };
    if (request.includes("Please book the room.")) return { text: "booked" };
    return request.includes("book the room") ? { toolCalls: [SEND] } : { text: greeting };
  };
}

describe("a message to another conversation", () => {
  it("is answered there once by its agent, with the weaker of both roles", async () => {
    const talk = await open(ALL);
    talk.world.script(booking("morning"));
    await ask(talk);
    await talk.started.settled();
    await eventually(() => talk.said().includes("booked"), "the clerk answers");
    expect(talk.said()).toMatch(/^plain:hall: .*booked/m);
    const asked = modelRequests(talk.world.anthropic)
      .map(({ messages }) => messages.at(-1)?.text ?? "")
      .find((text) => text.includes("Please book the room."));
    expect(asked).toContain(
      "A message from the agent coder in another conversation, requested by a person with the role owner.",
    );
    const rows = (await inboxRows(talk.world)).filter(({ eventId }) => eventId.startsWith("session:"));
    expect(rows).toHaveLength(1);
    expect(rows[0]?.payload).toMatchObject({
      role: "owner",
      trigger: { agentId: "clerk", sessionKey: HALL },
    });
  });

  it("taints the other conversation if another person spoke in this one", async () => {
    const talk = await open(ALL);
    talk.world.script(booking("hm"));
    await talk.plain.emit(plainMessage("h1", "good morning", { ...IN_HALL, ...MO }));
    await talk.started.settled();
    await talk.plain.emit(plainMessage("m1", "have the hall's agent book the room"));
    await eventually(() => talk.said().includes("booked"), "the clerk has answered");
    await talk.started.settled();
    const session = await inStore(talk.world, (store) => store.sessions.get(HALL));
    expect(JSON.stringify(session?.data)).toContain("person");
    const [said] = (await inboxRows(talk.world)).filter(({ eventId }) => eventId.startsWith("session:"));
    expect(said?.payload.role).toBe("guest");
  });

  it("cannot be forwarded, so that two agents do not write to each other forever", async () => {
    const talk = await open(ALL);
    const on = {
      name: "sessions_send",
      input: { session: "agent:coder:plain:direct:anna", message: "You?" },
    };
    talk.world.script((body) => {
      const request = JSON.stringify(body);
      if (request.includes("tool_result")) return { text: "well" };
      if (request.includes("in another conversation, requested by")) return { toolCalls: [on] };
      return request.includes("have the hall's agent") ? { toolCalls: [SEND] } : { text: "morning" };
    });
    await ask(talk);
    await eventually(
      () =>
        modelRequests(talk.world.anthropic).some(({ body }) =>
          JSON.stringify(body).includes("do not pass it on"),
        ),
      "the clerk is told so",
    );
    await talk.started.settled();
    expect(
      (await inboxRows(talk.world)).filter(({ eventId }) => eventId.startsWith("session:")),
    ).toHaveLength(1);
  });

  it.each([
    ["another agent's, where only the own ones are reached", { visibility: "agent" }],
    ["another agent's, where one of both is not named", { visibility: "all", agents: ["coder"] }],
    ["any, as long as nobody has said so", {}],
  ])("reaches none of %s", async (_which, sessions) => {
    const talk = await open(sessions);
    talk.world.script([{ text: "morning" }, { toolCalls: [SEND] }, { text: "done" }]);
    await ask(talk);
    await talk.started.settled();
    expect(lastResult(talk)).toContain(`You cannot reach a conversation ${HALL}`);
  });

  it("needs an owner's approval if a member requests it", async () => {
    const talk = await open(ALL);
    talk.world.script([{ text: "morning" }, { toolCalls: [SEND] }, { text: "done" }]);
    await ask(talk, { ...MO, conversation: { id: "mo", kind: "direct" }, address: "plain:mo" });
    await eventually(() => talk.said().includes("Approval"), "an owner is asked");
    const [approval] = await talk.started.gateway.service.approvals();
    expect(approval?.reason).toContain(`write to another conversation (\`${HALL}\`)`);
    const id = /Approval (\w{8})/.exec(talk.said())?.[1];
    await talk.plain.emit(plainMessage("m2", `/approve ${id} deny`));
    await talk.started.settled();
    expect((await inboxRows(talk.world)).some(({ eventId }) => eventId.startsWith("session:"))).toBe(false);
  });
});

describe("reading other conversations", () => {
  it.each([
    ["what others said there", LOOK, ["good morning"]],
    ["what the list of them holds, which others wrote too", LIST, [`${HALL} (good morning`, "plain:hall"]],
  ])("is an owner's, and taints the run with %s", async (_what, looking, shown) => {
    const talk = await open(ALL);
    const soul = { name: "write", input: { file_path: "SOUL.md", content: "Be bold." } };
    talk.world.script([
      { text: "morning" },
      { toolCalls: [looking] },
      { toolCalls: [soul] },
      { text: "done" },
    ]);
    await ask(talk);
    await eventually(() => talk.said().includes("Approval"), "an owner is asked about what follows");
    expect(talk.said()).toContain("content from person");
    for (const part of shown) expect(lastResult(talk)).toContain(part);
    await talk.plain.emit(plainMessage("m2", "/stop"));
    await talk.started.settled();
  });

  it("needs an owner's approval if a member requests it", async () => {
    const talk = await open(ALL);
    talk.world.script([{ text: "morning" }, { toolCalls: [LOOK] }, { text: "done" }]);
    await ask(talk, { ...MO, conversation: { id: "mo", kind: "direct" }, address: "plain:mo" });
    await eventually(() => talk.said().includes("Approval"), "an owner is asked");
    const [approval] = await talk.started.gateway.service.approvals();
    expect(approval?.reason).toContain(`read other conversations (\`${HALL}\`)`);
    await talk.plain.emit(
      plainMessage("m2", "/stop", { ...MO, conversation: { id: "mo", kind: "direct" }, address: "plain:mo" }),
    );
    await talk.started.settled();
  });
});
