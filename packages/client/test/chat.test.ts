import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ClientFrame, createClient, type ServerFrame } from "../src/index.ts";
import { type FakeGateway, startFakeGateway, TOKEN, type Viewer } from "./fake-gateway.ts";

let gateway: FakeGateway;
beforeEach(async () => {
  gateway = await startFakeGateway();
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
  const collected: string[] = [];
  for await (const frame of frames) {
    const id = "runId" in frame ? frame.runId : frame.type === "message" ? frame.message.id : "";
    collected.push(id === "" ? frame.type : `${frame.type} ${id}`);
  }
  return collected;
}

function script(answers: Partial<Record<ClientFrame["type"], (viewer: Viewer) => void>>): void {
  gateway.script = (frame, viewer) => answers[frame.type]?.(viewer);
}

describe("chat", () => {
  it("continues with resumed frames after a reconnect", async () => {
    const [start, delta, end] = run("r2", { answers: ["m1"] });
    script({
      subscribe: (viewer) => {
        if (viewer.number === 1) viewer.send(subscribed(false));
        else
          viewer.send(
            { ...subscribed(false), resumed: true } as ServerFrame,
            ...[delta, end].flatMap((f) => f ?? []),
          );
      },
      send: (viewer) => {
        viewer.send(accepted(), ...[start].flatMap((f) => f ?? []));
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
      subscribe: (viewer) => viewer.send(subscribed(false)),
      send: (viewer) => viewer.send(accepted(), { type: "pong" }, ...run("r2"), ...run("r3")),
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

  it("ignores the end of a run that processed other messages", async () => {
    script({
      send: (viewer) =>
        viewer.send(accepted(), ...run("r1", { answers: ["m0"] }), ...run("r2", { answers: ["m1"] })),
    });
    const collected = await collect(client().chat("coder", "c1", "hi", options));
    expect(collected.filter((each) => each.startsWith("run.end"))).toEqual(["run.end r1", "run.end r2"]);
  });

  it("recognizes the end of its run even if it arrives before the accepted frame", async () => {
    script({ send: (viewer) => viewer.send(...run("r1", { answers: ["m1"] }), accepted(), ...run("r2")) });
    const collected = await collect(client().chat("coder", "c1", "hi", options));
    expect(collected.slice(-2)).toEqual(["run.end r1", "accepted"]);
  });

  it("throws if the gateway refuses the message", async () => {
    script({ send: (viewer) => viewer.send({ type: "error", id: "s1", code: "full", message: "Full." }) });
    await expect(collect(client().chat("coder", "c1", "hi", options))).rejects.toMatchObject({
      code: "full",
    });
  });

  it("throws if the gateway is unreachable or the connection is closed", async () => {
    gateway.greet = (viewer) => viewer.cut();
    const frames = client().chat("coder", "c1", "hi", { ...options, retries: 1 });
    await expect(collect(frames)).rejects.toMatchObject({ code: "network" });
    const connection = client().connect();
    connection.close();
    await expect(collect(connection.chat("coder", "c1", "hi"))).rejects.toMatchObject({ code: "closed" });
  });

  it("continues with a run that is still current after a reconnect", async () => {
    script({
      subscribe: (viewer) => {
        viewer.send(subscribed(viewer.number > 1));
        if (viewer.number > 1) viewer.send(...run("r1"));
      },
      send: (viewer) => {
        viewer.send(accepted(), ...run("r1").slice(0, 2));
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
    ["after the accepted frame", true],
    ["before the accepted frame", false],
  ])("catches up with a run that ended while it was disconnected, %s", async (_, isAccepted) => {
    const messages = [text("m0"), text("m1", "user"), text("m2"), text("m3")];
    gateway.answers.set("/api/conversations/c1/messages", () => ({ messages, ends: [] }));
    script({
      subscribe: (viewer) => viewer.send(subscribed(false)),
      send: (viewer) => {
        if (viewer.number > 1) return viewer.send(accepted(true));
        if (isAccepted) viewer.send(accepted(), { type: "message", conversation: "c1", message: text("m2") });
        viewer.close();
      },
    });
    expect(await collect(client().chat("coder", "c1", "hi", options))).toEqual([
      "subscribed",
      ...(isAccepted ? ["accepted", "message m2", "subscribed"] : ["subscribed", "accepted", "message m2"]),
      "message m3",
      "run.end r1",
    ]);
  });

  it("stops the run when its signal is aborted, even if the run starts later", async () => {
    const stop = new AbortController();
    let started = false;
    script({
      send: (viewer) => viewer.send(accepted()),
      abort: (viewer) => {
        if (started) viewer.send(...run("r1", { outcome: "aborted" }).slice(2));
        else viewer.send(...run("r1").slice(0, 1));
        started = true;
      },
    });
    const received: ServerFrame[] = [];
    for await (const frame of client().chat("coder", "c1", "hi", { ...options, signal: stop.signal })) {
      received.push(frame);
      if (frame.type === "accepted") stop.abort();
    }
    expect(received.at(-1)).toMatchObject({ type: "run.end", outcome: "aborted" });
    expect(gateway.received.filter((frame) => frame.type === "abort")).toHaveLength(2);
  });

  it("does not stop the run when the reader leaves the loop", async () => {
    script({ send: (viewer) => viewer.send(accepted(), ...run("r1")) });
    const connection = client().connect();
    for await (const frame of connection.chat("coder", "c1", "hi")) if (frame.type === "run.start") break;
    expect(connection.state.kind).toBe("open");
    connection.close();
    expect(gateway.received.some((frame) => frame.type === "abort")).toBe(false);
  });
});
