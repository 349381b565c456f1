import { type Client, createClient, isClientError, type ServerFrame } from "@signalbox/client";
import { textMessage } from "@signalbox/testkit/feishu";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import {
  eventually,
  exampleConfig,
  inboxRows,
  KEY,
  openWorld,
  type Started,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

let world: World;
let started: Started;
let client: Client;

/** The frames of one message and its answer, without the ones that only say how the connection is. */
async function talk(conversation: string, text: string, id?: string): Promise<ServerFrame[]> {
  const frames: ServerFrame[] = [];
  for await (const frame of client.chat("coder", conversation, text, id === undefined ? {} : { id }))
    if (frame.type !== "subscribed") frames.push(frame);
  return frames;
}

/** The model calls a tool, and says the rest once it may go on. */
function answerInTwoTurns() {
  const goOn = Promise.withResolvers<void>();
  world.script(async (_, index) => {
    if (index === 1) await goOn.promise;
    return index === 0
      ? { text: "First.", toolCalls: [{ id: "toolu_1", name: "ls", input: { path: "." } }] }
      : { text: "Second." };
  });
  return goOn;
}

async function code(call: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return isClientError(error) ? error.code : String(error);
  }
}

describe("the gateway's own client", () => {
  beforeEach(async () => {
    world = await openWorld();
    world.configure(exampleConfig());
    started = await world.start();
    client = createClient({ baseUrl: started.url, token: TOKEN });
  });

  it("parses every response of the gateway", async () => {
    world.script([{ toolCalls: [{ id: "toolu_1", name: "ls", input: { path: "." } }] }, { text: "nothing" }]);
    expect(await client.me()).toEqual({
      user: { id: "owner", name: "owner", role: "owner", scopes: ["chat", "read", "write", "owner"] },
      agents: [
        { id: "coder", name: "代码助手", model: "anthropic/claude-sonnet-4-6", demo: false, default: true },
      ],
      demo: false,
      version: expect.stringMatching(/^\d+\.\d+\.\d+/),
      speech: false,
    });
    const told = await talk("c1", "what is there?", "m1");
    // It comes once the message is on the disk, and a run does not wait for that.
    const accepted = told.filter(({ type }) => type === "accepted");
    expect(accepted).toMatchObject([{ id: "m1", messageId: "m1", duplicate: false }]);
    const frames = told.filter(({ type }) => type !== "accepted");
    expect(frames.map(({ type }) => type).filter((type, index, all) => type !== all[index - 1])).toEqual([
      "message",
      "run.start",
      "tool.start",
      "tool.end",
      "text.delta",
      "message",
      "run.end",
    ]);
    expect(frames.at(-1)).toMatchObject({ outcome: "replied", answers: ["m1"], usage: { outputTokens: 30 } });
    expect(await client.agents()).toHaveLength(1);
    expect(await client.conversations()).toMatchObject([
      { id: "c1", agent: "coder", title: "what is there?" },
    ]);
    const live = frames.flatMap((frame) => (frame.type === "message" ? [frame.message] : []));
    const { messages: kept } = await client.history("c1");
    expect(kept.map(({ role }) => role)).toEqual(["user", "tool", "assistant"]);
    const identity = ({ id, role, text }: { id: string; role: string; text: string }) => ({ id, role, text });
    expect(kept.filter(({ role }) => role !== "tool").map(identity)).toEqual(live.map(identity));
    expect(kept[1]).toMatchObject({
      call: { id: "toolu_1", name: "ls", args: { path: "." }, isError: false },
    });
    expect(await client.status()).toMatchObject({
      channels: [{ channel: "feishu", account: "main", state: "ready" }],
      inboxPending: 0,
      outboxPending: 0,
    });
    const { entries } = await client.trace("m1");
    expect([...new Set(entries.map(({ stage }) => stage))]).toEqual(
      expect.arrayContaining(["accept", "admit", "prepare", "run", "conclude"]),
    );
    expect(await code(() => client.history("never"))).toBe("not_found");
    expect(await code(() => client.trace("never"))).toBe("not_found");
    const stranger = createClient({ baseUrl: started.url, token: "a guess" });
    expect(await code(() => stranger.me())).toBe("unauthorized");
    expect(await code(() => stranger.connect().opened())).toBe("unauthorized");
    expect(await code(() => client.login("a guess"))).toBe("unauthorized");
    expect(
      await code(() => createClient({ baseUrl: started.url, token: TOKEN }).login(TOKEN)),
    ).toBeUndefined();
  });

  it("may repeat a message, which is answered once", async () => {
    world.script((_, index) => ({ text: `answer ${index}` }));
    const frames = (await Promise.all([talk("c1", "hello", "same"), talk("c1", "hello", "same")])).flat();
    expect(frames.filter(({ type }) => type === "accepted")).toHaveLength(2);
    await talk("c1", "hello", "same");
    expect(world.anthropic.requests).toHaveLength(1);
    expect((await client.history("c1")).messages.map(({ id }) => id)[0]).toBe("same");
    expect(await inboxRows(world)).toHaveLength(1);
  });

  it("may repeat a request over another connection during the run, and gets the complete answer", async () => {
    const goOn = answerInTwoTurns();
    const first = talk("c1", "go");
    await eventually(
      () => started.gateway.service.live.running("agent:coder:web:direct:c1").length >= 4,
      "the tool has run",
    );
    const connection = client.connect();
    onTestFinished(() => connection.close());
    const frames: ServerFrame[] = [];
    connection.onFrame((frame) => frames.push(frame));
    connection.subscribe("c1", "coder");
    await eventually(() => frames.some(({ type }) => type === "tool.end"), "the run so far");
    goOn.resolve();
    await first;
    await eventually(() => frames.some(({ type }) => type === "run.end"), "the rest of the run");
    expect(frames.find(({ type }) => type === "subscribed")).toMatchObject({ busy: true });
    const said = frames.flatMap((frame) =>
      frame.type === "message" && frame.message.role === "assistant" ? [frame.message.text] : [],
    );
    expect(said).toEqual(["First.", "Second."]);
    const streamed = frames.flatMap((frame) => (frame.type === "text.delta" ? [frame.delta] : [])).join("");
    expect(streamed).toBe("First.\n\nSecond.");
  });

  it("uses requests and server-sent events, and misses nothing after a reconnect", async () => {
    const goOn = answerInTwoTurns();
    const message = { agent: "coder", conversation: "c1", text: "go", id: "m1" };
    const frames: ServerFrame[] = [];
    const watch = async (until: ServerFrame["type"]): Promise<void> => {
      const last = frames.findLast((frame) => "cursor" in frame);
      const after = last !== undefined && "cursor" in last ? last.cursor : undefined;
      for await (const frame of client.events("c1", {
        agent: "coder",
        ...(after !== undefined && { after }),
      })) {
        frames.push(frame);
        if (frame.type === "subscribed" && frames.length === 1) await client.send(message);
        if (frame.type === until) return;
      }
    };
    await watch("tool.end");
    goOn.resolve();
    await eventually(async () => (await client.history("c1")).ends.length === 1, "the run has ended");
    await watch("run.end");
    expect(frames.filter(({ type }) => type === "subscribed").at(-1)).toMatchObject({ resumed: true });
    const told = frames.map(({ type }) => type).filter((type) => type !== "subscribed");
    expect(told.filter((type, index) => type !== told[index - 1])).toEqual([
      "message",
      "run.start",
      "text.delta",
      "message",
      "tool.start",
      "tool.end",
      "text.delta",
      "message",
      "run.end",
    ]);
    expect(await client.send(message)).toMatchObject({ duplicate: true });
    await client.abort("c1", "coder");
  });

  it("shows no part of a secret in an answer, however it is split", async () => {
    world.script([{ text: `Your key is ${KEY}, and the token ${TOKEN}.`, chunks: 24 }]);
    const frames = await talk("c1", "What is my key?");
    const deltas = frames.flatMap((frame) => (frame.type === "text.delta" ? [frame.delta] : []));
    const clean = "Your key is [redacted], and the token [redacted].";
    expect(deltas.join("")).toBe(clean);
    expect((await client.history("c1")).messages.map(({ text }) => text)).toEqual(["What is my key?", clean]);
  });

  it("separates conversations, and excludes those of platforms", async () => {
    world.script((body) => ({
      text: JSON.stringify(body).includes("xyzzy") ? "I know a word" : "I know nothing",
    }));
    await talk("c1", "xyzzy");
    const other = await talk("c2", "what do you know?");
    expect(other.flatMap((frame) => (frame.type === "message" ? [frame.message.text] : []))).toEqual([
      "what do you know?",
      "I know nothing",
    ]);
    expect(modelRequests(world.anthropic)[1]?.messages).toHaveLength(1);
    // A conversation on a platform is none of the console's.
    await started.post(textMessage("from Feishu", { senderId: ZHANG }));
    await started.settled();
    expect((await client.conversations()).map(({ id }) => id).toSorted()).toEqual(["c1", "c2"]);
    expect(await code(() => client.history(ZHANG))).toBe("not_found");
    const connection = client.connect();
    onTestFinished(() => connection.close());
    expect(await code(() => connection.send({ agent: "nobody", conversation: "c3", text: "x" }))).toBe(
      "unknown_agent",
    );
  });

  it("stops a run, after which the conversation continues", async () => {
    world.script([
      { text: "on and on ".repeat(100), chunks: 40, fault: { kind: "stall", afterEvents: 20 } },
      { text: "yes?" },
    ]);
    const stop = new AbortController();
    let last: ServerFrame | undefined;
    for await (const frame of client.chat("coder", "c1", "tell", { signal: stop.signal })) {
      last = frame;
      if (frame.type === "text.delta") stop.abort();
    }
    expect(last).toMatchObject({ type: "run.end", outcome: "aborted" });
    const frames = await talk("c1", "hello?");
    expect(frames.at(-1)).toMatchObject({ outcome: "replied" });
    // What it had said by then is part of the conversation.
    const [second] = modelRequests(world.anthropic).slice(-1);
    expect(second?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
  });

  it("reports one start and one end for each tool call, whatever its outcome", async () => {
    world.script([
      {
        toolCalls: [
          { id: "t1", name: "ls", input: { path: "." } },
          { id: "t2", name: "read", input: {} },
          { id: "t3", name: "nothing", input: {} },
          { id: "t4", name: "read", input: { file_path: "../../signalbox.yaml" } },
          { id: "t5", name: "write", input: {}, inputText: '{"file_path": "a' },
        ],
      },
      { text: "well" },
    ]);
    const frames = await talk("c1", "go");
    const starts = frames.flatMap((frame) => (frame.type === "tool.start" ? [frame.call.id] : []));
    const ends = frames.flatMap((frame) =>
      frame.type === "tool.end" ? [[frame.call.id, frame.call.isError]] : [],
    );
    expect(starts).toEqual(["t1", "t2", "t3", "t4", "t5"]);
    expect(ends.toSorted()).toEqual([
      ["t1", false],
      ["t2", true],
      ["t3", true],
      ["t4", true],
      ["t5", true],
    ]);
    const kept = (await client.history("c1")).messages.flatMap(({ call }) =>
      call ? [[call.id, call.isError]] : [],
    );
    expect(kept).toEqual([
      ["t1", false],
      ["t2", true],
      ["t3", true],
      ["t4", true],
      ["t5", true],
    ]);
  });
});
