import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClientFrame, createClient, type ServerFrame } from "../src/index.ts";
import { type StandIn, startStandIn, TOKEN, type Viewer } from "./stand-in.ts";

let gateway: StandIn;
beforeEach(async () => {
  gateway = await startStandIn();
});
afterEach(() => gateway.stop());

const client = () => createClient({ baseUrl: gateway.url, token: TOKEN });
const options = { id: "s1", backoffMs: () => 1 };

const subscribed = (busy: boolean): ServerFrame => ({
  type: "subscribed",
  conversation: "c1",
  busy,
  ...(!busy && { lastRun: { runId: "r1", outcome: "replied" } }),
});
const accepted = (duplicate = false): ServerFrame => ({
  type: "accepted",
  id: "s1",
  conversation: "c1",
  messageId: "m1",
  duplicate,
});
const run = (runId: string, end: Partial<Extract<ServerFrame, { type: "run.end" }>> = {}): ServerFrame[] => [
  { type: "run.start", conversation: "c1", runId },
  { type: "text.delta", conversation: "c1", runId, delta: "你" },
  { type: "run.end", conversation: "c1", runId, outcome: "replied", ...end },
];
const text = (id: string, role: "user" | "assistant" = "assistant") => ({ id, role, text: id, at: 1 });

async function collect(frames: AsyncIterable<ServerFrame>): Promise<string[]> {
  const told: string[] = [];
  for await (const frame of frames) {
    const what = "runId" in frame ? frame.runId : frame.type === "message" ? frame.message.id : "";
    told.push(what === "" ? frame.type : `${frame.type} ${what}`);
  }
  return told;
}

function script(answers: Partial<Record<ClientFrame["type"], (viewer: Viewer) => void>>): void {
  gateway.script = (frame, viewer) => answers[frame.type]?.(viewer);
}

describe("chat", () => {
  it("goes on with what is resumed after a cut", async () => {
    const [start, delta, end] = run("r2", { answers: ["m1"] });
    script({
      subscribe: (viewer) => {
        if (viewer.number === 1) viewer.say(subscribed(false));
        else
          viewer.say(
            { ...subscribed(false), resumed: true } as ServerFrame,
            ...[delta, end].flatMap((f) => f ?? []),
          );
      },
      send: (viewer) => {
        viewer.say(accepted(), ...[start].flatMap((f) => f ?? []));
        viewer.cut();
      },
    });
    expect(await collect(client().chat("coder", "c1", "你好", options))).toEqual([
      "subscribed",
      "accepted",
      "run.start r2",
      "subscribed",
      "text.delta r2",
      "run.end r2",
    ]);
    expect(gateway.requests).toEqual([]);
  });

  it("yields the frames of its conversation until its run ends", async () => {
    script({
      subscribe: (viewer) => viewer.say(subscribed(false)),
      send: (viewer) => viewer.say(accepted(), { type: "pong" }, ...run("r2"), ...run("r3")),
    });
    expect(await collect(client().chat("coder", "c1", "你好", options))).toEqual([
      "subscribed",
      "accepted",
      "run.start r2",
      "text.delta r2",
      "run.end r2",
    ]);
    expect(gateway.received).toEqual([
      { type: "subscribe", conversation: "c1", agent: "coder" },
      { type: "send", id: "s1", agent: "coder", conversation: "c1", text: "你好" },
    ]);
  });

  it("passes over the end of a run that dealt with other messages", async () => {
    script({
      send: (viewer) =>
        viewer.say(accepted(), ...run("r1", { answers: ["m0"] }), ...run("r2", { answers: ["m1"] })),
    });
    const told = await collect(client().chat("coder", "c1", "hi", options));
    expect(told.filter((each) => each.startsWith("run.end"))).toEqual(["run.end r1", "run.end r2"]);
  });

  it("knows the end of its run even where that came before the answer to its send", async () => {
    script({ send: (viewer) => viewer.say(...run("r1", { answers: ["m1"] }), accepted(), ...run("r2")) });
    const told = await collect(client().chat("coder", "c1", "hi", options));
    expect(told.slice(-2)).toEqual(["run.end r1", "accepted"]);
  });

  it("throws what the gateway refused", async () => {
    script({ send: (viewer) => viewer.say({ type: "error", id: "s1", code: "full", message: "Full." }) });
    await expect(collect(client().chat("coder", "c1", "hi", options))).rejects.toMatchObject({
      code: "full",
    });
  });

  it("throws where nobody answers, and where the connection is closed already", async () => {
    gateway.greet = (viewer) => viewer.cut();
    const frames = client().chat("coder", "c1", "hi", { ...options, retries: 1 });
    await expect(collect(frames)).rejects.toMatchObject({ code: "network" });
    const connection = client().connect();
    connection.close();
    await expect(collect(connection.chat("coder", "c1", "hi"))).rejects.toMatchObject({ code: "closed" });
  });

  it("goes on with a run that survives a cut", async () => {
    script({
      subscribe: (viewer) => {
        viewer.say(subscribed(viewer.number > 1));
        if (viewer.number > 1) viewer.say(...run("r1"));
      },
      send: (viewer) => {
        viewer.say(accepted(), ...run("r1").slice(0, 2));
        setImmediate(() => viewer.close());
      },
    });
    expect(await collect(client().chat("coder", "c1", "hi", options))).toEqual([
      "subscribed",
      "accepted",
      "run.start r1",
      "text.delta r1",
      "subscribed",
      "run.start r1",
      "text.delta r1",
      "run.end r1",
    ]);
  });

  it.each([
    ["after it was accepted", true],
    ["before it learned that it was accepted", false],
  ])("catches up with a run that ended while it was away, cut %s", async (_, told) => {
    const messages = [text("m0"), text("m1", "user"), text("m2"), text("m3")];
    gateway.answers.set("/api/conversations/c1/messages", () => ({ messages, ends: [] }));
    script({
      subscribe: (viewer) => viewer.say(subscribed(false)),
      send: (viewer) => {
        if (viewer.number > 1) return viewer.say(accepted(true));
        if (told) viewer.say(accepted(), { type: "message", conversation: "c1", message: text("m2") });
        viewer.close();
      },
    });
    expect(await collect(client().chat("coder", "c1", "hi", options))).toEqual([
      "subscribed",
      ...(told ? ["accepted", "message m2", "subscribed"] : ["subscribed", "accepted", "message m2"]),
      "message m3",
      "run.end r1",
    ]);
  });

  it("stops the run when its signal says so, also where the run begins later", async () => {
    const stop = new AbortController();
    let started = false;
    script({
      send: (viewer) => viewer.say(accepted()),
      abort: (viewer) => {
        if (started) viewer.say(...run("r1", { outcome: "aborted" }).slice(2));
        else viewer.say(...run("r1").slice(0, 1));
        started = true;
      },
    });
    const told: ServerFrame[] = [];
    for await (const frame of client().chat("coder", "c1", "hi", { ...options, signal: stop.signal })) {
      told.push(frame);
      if (frame.type === "accepted") stop.abort();
    }
    expect(told.at(-1)).toMatchObject({ type: "run.end", outcome: "aborted" });
    expect(gateway.received.filter((frame) => frame.type === "abort")).toHaveLength(2);
  });

  it("leaves the run alone when its reader goes", async () => {
    script({ send: (viewer) => viewer.say(accepted(), ...run("r1")) });
    const connection = client().connect();
    for await (const frame of connection.chat("coder", "c1", "hi")) if (frame.type === "run.start") break;
    expect(connection.state.kind).toBe("open");
    connection.close();
    expect(gateway.received.some((frame) => frame.type === "abort")).toBe(false);
  });
});
