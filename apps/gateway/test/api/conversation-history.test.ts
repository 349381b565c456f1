import { type Client, createClient, type ServerFrame } from "@signalbox/client";
import { beforeEach, describe, expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inStore,
  openWorld,
  type Started,
  TOKEN,
  type World,
} from "../support/harness.ts";

let world: World;
let started: Started;
let client: Client;

beforeEach(async () => {
  world = await openWorld();
  const agents = {
    defaults: { model: "anthropic/claude-sonnet-4-6" },
    list: [{ id: "coder", tools: { allow: ["read", "ls", "ask_user"] } }],
  };
  world.configure(exampleConfig({ agents, channels: {} }));
  started = await world.start();
  client = createClient({ baseUrl: started.url, token: TOKEN });
});

/** What somebody sees who watches while it happens. */
async function watch(text: string, signal?: AbortSignal): Promise<ServerFrame[]> {
  const frames: ServerFrame[] = [];
  const options = signal === undefined ? {} : { signal };
  for await (const frame of client.chat("coder", "c1", text, options)) frames.push(frame);
  return frames;
}

/** The same in the words that are compared: what was said by whom, tools with their times, ends with costs. */
function seen(frames: readonly ServerFrame[]): unknown[] {
  const reset = frames.flatMap((frame) => (frame.type === "reset" ? [frame.messageId] : []));
  return frames.flatMap((frame): unknown[] => {
    switch (frame.type) {
      case "message": {
        const { id, role, text } = frame.message;
        return [{ id, role, text, begins: reset.includes(id) }];
      }
      case "tool.end":
        return [{ call: frame.call.id, took: frame.call.durationMs, isError: frame.call.isError }];
      default:
        return [];
    }
  });
}

function ends(frames: readonly ServerFrame[]): unknown[] {
  const errors = new Map(frames.flatMap((frame) => (frame.type === "error" ? [[frame.runId, frame]] : [])));
  return frames.flatMap((frame) => {
    if (frame.type !== "run.end") return [];
    const { runId, outcome, usage } = frame;
    const { code, message, remedy } = errors.get(runId) ?? {};
    return [{ runId, outcome, usage, error: code === undefined ? undefined : { code, message, remedy } }];
  });
}

async function kept(): Promise<{ said: unknown[]; ends: unknown[] }> {
  const history = await client.history("c1");
  return {
    said: history.messages.map(({ id, role, text, call, begins = false }) =>
      call === undefined
        ? { id, role, text, begins }
        : { call: call.id, took: call.durationMs, isError: call.isError },
    ),
    ends: history.ends.map(({ runId, outcome, usage, error }) => ({ runId, outcome, usage, error })),
  };
}

describe("the history of a conversation", () => {
  it("matches what viewers saw: commands, resets, tools with durations, outcomes with costs", async () => {
    world.script([
      { toolCalls: [{ id: "toolu_1", name: "ls", input: { path: "." } }] },
      { text: "nothing" },
      { text: "Hello again." },
    ]);
    const frames = [
      ...(await watch("/whoami")),
      ...(await watch("what is there?")),
      ...(await watch("/new")),
      ...(await watch("hello")),
      ...(await watch("/compact")),
      ...(await watch("/new and once more")),
    ];
    const looked = await kept();
    expect(looked.said).toEqual(seen(frames));
    expect(new Set(looked.ends)).toEqual(new Set(ends(frames)));
    expect(frames.filter(({ type }) => type === "reset")).toHaveLength(2);
    await started.stop();
    started = await world.start();
    client = createClient({ baseUrl: started.url, token: TOKEN });
    expect(await kept()).toEqual(looked);
  });

  it("contains the reason and remedy of a failed run once and without secrets", async () => {
    const secret = "sk-ant-api03-oneverysecretkeythatnobodymaysee";
    world.script([{ error: { status: 401, message: `invalid x-api-key: ${secret}` } }]);
    const frames = await watch("hello");
    const { said, ends: outcomes } = await kept();
    expect(said).toEqual(seen(frames));
    expect(outcomes).toEqual(ends(frames));
    expect(outcomes).toEqual([
      expect.objectContaining({
        outcome: "failed",
        error: expect.objectContaining({ code: "auth", remedy: expect.stringContaining("apiKey") }),
      }),
    ]);
    expect(JSON.stringify(await client.history("c1"))).not.toContain(secret);
  });

  it("shows that a run was stopped", async () => {
    const asked = Promise.withResolvers<void>();
    world.script(async () => {
      asked.resolve();
      return new Promise(() => {});
    });
    const stop = new AbortController();
    const watching = watch("work", stop.signal);
    await asked.promise;
    stop.abort();
    const frames = await watching;
    expect(await kept()).toEqual({ said: seen(frames), ends: ends(frames) });
    expect(frames.at(-1)).toMatchObject({ type: "run.end", outcome: "aborted" });
  });

  it("loses its questions and answers when it is removed", async () => {
    const input = { question: "Which house?" };
    world.script([{ toolCalls: [{ id: "toolu_1", name: "ask_user", input }] }, { text: "I see." }]);
    const userQuestions = () => inStore(world, (store) => store.kv.list("user_questions"));
    const watching = watch("help me");
    await eventually(async () => (await userQuestions()).length === 1, "the question is put");
    await watch("the yellow one");
    await watching;
    expect(JSON.stringify(await userQuestions())).toContain("the yellow one");
    await client.removeConversation("c1");
    expect(await userQuestions()).toEqual([]);
  });

  it("contains every question unchanged, also summarized ones", async () => {
    await started.gateway.stop();
    const queue = { mode: "collect", debounceMs: 0, cap: 1, drop: "summarise" };
    world.configure(exampleConfig({ channels: {}, session: { queue } }));
    started = await world.start();
    const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    world.script(async (_, index) => {
      asked.resolve();
      if (index === 0) await goOn.promise;
      return { text: `answer ${index}` };
    });
    const { service } = started.gateway;
    const ask = (text: string) =>
      service.submit({ channel: "web", agent: "coder", conversation: "c1", id: text, text });
    await ask("one");
    await asked.promise;
    for (const text of ["two", "three"]) await ask(text);
    const last = await ask("four");
    goOn.resolve();
    if (last.kind === "accepted") await last.done;
    const history = await service.history("c1");
    expect(history?.messages.map(({ id, text }) => (id === text ? id : text))).toEqual([
      "one",
      "answer 0",
      "two",
      "three",
      "four",
      "answer 1",
    ]);
  });

  it("is removed together with its commands", async () => {
    await watch("/whoami");
    await client.removeConversation("c1");
    world.script([{ text: "Hello." }]);
    await watch("hello");
    expect((await client.history("c1")).messages.map(({ text }) => text)).toEqual(["hello", "Hello."]);
  });
});
