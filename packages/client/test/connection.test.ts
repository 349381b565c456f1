import { CLOSE_UNAUTHORIZED } from "@signalbox/protocol";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import {
  type Client,
  type Connection,
  type ConnectionState,
  type ConnectOptions,
  createClient,
  type ServerFrame,
} from "../src/index.ts";
import { type FakeGateway, READY, startFakeGateway, TOKEN } from "./fake-gateway.ts";

let gateway: FakeGateway;
const open: Connection[] = [];
beforeEach(async () => {
  gateway = await startFakeGateway();
});
afterEach(async () => {
  for (const connection of open.splice(0)) connection.close();
  await gateway.stop();
});

const client = (): Client => createClient({ baseUrl: gateway.url, token: TOKEN });

function connect(options: ConnectOptions = {}): Connection {
  const connection = client().connect({ backoffMs: () => 1, ...options });
  open.push(connection);
  return connection;
}

/** Waits for the next state of one kind. */
function reached<K extends ConnectionState["kind"]>(
  connection: Connection,
  kind: K,
): Promise<Extract<ConnectionState, { kind: K }>> {
  return new Promise((resolve) => {
    const stop = connection.onState((state) => {
      if (!isKind(state, kind)) return;
      stop();
      resolve(state);
    });
  });
}

function isKind<K extends ConnectionState["kind"]>(
  state: ConnectionState,
  kind: K,
): state is Extract<ConnectionState, { kind: K }> {
  return state.kind === kind;
}

const message = { agent: "coder", conversation: "c1", text: "你好" };
const accepted = (id: string, duplicate = false): ServerFrame => ({
  type: "accepted",
  id,
  conversation: "c1",
  messageId: `m-${id}`,
  duplicate,
});

describe("a connection", () => {
  it.each([
    ["the global WebSocket", undefined],
    ["the package ws", WebSocket],
  ])("opens with %s", async (_, implementation) => {
    const connection = createClient({
      baseUrl: gateway.url,
      token: TOKEN,
      ...(implementation !== undefined && { WebSocket: implementation }),
    }).connect();
    open.push(connection);
    expect(await connection.opened()).toEqual(READY);
    expect(connection.state).toEqual({ kind: "open", ready: READY });
  });

  it("passes every frame to listeners and readers, and ends the readers on close", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type === "subscribe")
        viewer.send(
          { type: "subscribed", conversation: "c1", busy: true },
          { type: "run.start", conversation: "c1", runId: "r1" },
          { type: "text.delta", conversation: "c1", runId: "r1", delta: "a" },
          { type: "pong" },
        );
    };
    const connection = connect();
    const received: string[] = [];
    connection.onFrame((frame) => void received.push(frame.type));
    const readers = [connection.frames(), connection.frames()].map(async (frames) => {
      const types: string[] = [];
      for await (const frame of frames) {
        types.push(frame.type);
        if (frame.type === "pong") connection.close();
      }
      return types;
    });
    connection.subscribe("c1");
    const all = ["ready", "subscribed", "run.start", "text.delta", "pong"];
    expect(await Promise.all(readers)).toEqual([all, all]);
    expect(received).toEqual(all);
    expect(connection.state).toEqual({ kind: "closed" });
  });

  it("ignores invalid frames and unknown types", async () => {
    gateway.script = (_, viewer) => {
      viewer.sendRaw("{");
      viewer.sendRaw('{"type":"of.tomorrow"}');
      viewer.sendRaw('{"type":"text.delta","conversation":1}');
      viewer.send({ type: "pong" });
    };
    const connection = connect();
    await connection.opened();
    const frames = connection.frames();
    connection.abort("c1");
    expect(await frames.next()).toEqual({ done: false, value: { type: "pong" } });
  });

  it("reconnects, subscribes again and repeats only messages that were not accepted", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type !== "send") return;
      if (frame.id === "first") viewer.send(accepted(frame.id));
      else if (viewer.number < 3) viewer.cut();
      else viewer.send(accepted(frame.id, true));
    };
    const connection = connect();
    connection.subscribe("c1", "coder");
    const unsubscribe = connection.subscribe("c2");
    await connection.opened();
    unsubscribe();
    unsubscribe();
    await connection.send({ ...message, id: "first" });
    expect(await connection.send({ ...message, id: "second" })).toMatchObject({ duplicate: true });
    const sent = gateway.received.map((frame) =>
      frame.type === "send" ? frame.id : "conversation" in frame && `${frame.type} ${frame.conversation}`,
    );
    expect(sent.filter((each) => each === "first")).toEqual(["first"]);
    expect(sent.filter((each) => each === "second")).toEqual(["second", "second", "second"]);
    expect(sent.filter((each) => each === "subscribe c1")).toHaveLength(3);
    expect(sent.filter((each) => each === "subscribe c2").length).toBeLessThanOrEqual(1);
    // The subscription comes first, so that no frame of the reply is missed.
    expect(sent.lastIndexOf("subscribe c1")).toBeLessThan(sent.lastIndexOf("second"));
  });

  it("sends a subscription once if a listener creates it when the connection opens", async () => {
    const connection = connect();
    connection.onState(({ kind }) => {
      if (kind === "open") connection.subscribe("c1");
    });
    const aborted = new Promise<void>((resolve) => {
      gateway.script = (frame) => {
        if (frame.type === "abort") resolve();
      };
    });
    await connection.opened();
    connection.abort("c1");
    await aborted;
    expect(gateway.received.map(({ type }) => type)).toEqual(["subscribe", "abort"]);
  });

  it("resumes after the last frame when it reconnects", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type !== "subscribe") return;
      viewer.send({
        type: "text.delta",
        conversation: frame.conversation,
        runId: "r1",
        delta: "a",
        cursor: "a.1",
      });
      if (viewer.number === 1) viewer.cut();
      else viewer.send({ type: "pong" });
    };
    const connection = connect();
    connection.subscribe("c1");
    for await (const frame of connection.frames()) if (frame.type === "pong") break;
    expect(gateway.received).toEqual([
      { type: "subscribe", conversation: "c1" },
      { type: "subscribe", conversation: "c1", after: "a.1" },
    ]);
  });

  it("unsubscribes when the last subscriber leaves", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type === "ping") viewer.send({ type: "pong" });
    };
    const connection = connect({ pingMs: 1 });
    const releases = [connection.subscribe("c1"), connection.subscribe("c1")];
    await connection.opened();
    releases[0]?.();
    await expect.poll(() => gateway.received.some(({ type }) => type === "ping")).toBe(true);
    expect(gateway.received.some(({ type }) => type === "unsubscribe")).toBe(false);
    releases[1]?.();
    await expect.poll(() => gateway.received.some(({ type }) => type === "unsubscribe")).toBe(true);
    expect(gateway.received).toContainEqual({ type: "unsubscribe", conversation: "c1" });
  });

  it("receives the activity of the gateway, including after a reconnect, until the last watcher leaves", async () => {
    const activity = { runs: [], waiting: [], commands: [], schedules: [] };
    let viewers = 0;
    gateway.script = (frame, viewer) => {
      if (frame.type !== "watch") return;
      viewers = viewer.number;
      viewer.send({ type: "activity", activity });
      if (viewer.number === 1) viewer.cut();
    };
    const connection = connect();
    const calls: number[] = [];
    const first = connection.watch(() => calls.push(1));
    await expect.poll(() => viewers).toBe(2);
    await expect.poll(() => calls).toEqual([1, 1]);
    // A later watcher receives the latest activity without another request.
    const second = connection.watch(() => calls.push(2));
    expect(calls).toEqual([1, 1, 2]);
    first();
    first();
    second();
    await expect.poll(() => gateway.received.map(({ type }) => type)).toEqual(["watch", "watch", "unwatch"]);
  });

  it("sends a message that was queued before the connection opened, once", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type === "send") viewer.send(accepted(frame.id));
    };
    const connection = connect();
    const both = [connection.send({ ...message, id: "a" }), connection.send({ ...message, id: "a" })];
    expect(await Promise.all(both)).toMatchObject([{ messageId: "m-a" }, { messageId: "m-a" }]);
    expect(gateway.received).toHaveLength(1);
  });

  it("rejects a refused message and keeps the connection open", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type === "send")
        viewer.send({ type: "error", id: frame.id, code: "full", message: "Full.", remedy: "Wait." });
    };
    const connection = connect();
    await expect(connection.send(message)).rejects.toMatchObject({ code: "full", remedy: "Wait." });
    expect(connection.state.kind).toBe("open");
  });

  it("rejects a message that is too long for a frame and repeats the others", async () => {
    await gateway.stop();
    gateway = await startFakeGateway({ maxPayload: 1000 });
    gateway.script = (frame, viewer) => {
      if (frame.type === "send" && viewer.number > 1) viewer.send(accepted(frame.id));
    };
    const connection = connect();
    const short = connection.send(message);
    const long = connection.send({ ...message, text: "长".repeat(1000) });
    await expect(long).rejects.toMatchObject({ code: "too_large" });
    expect(await short).toMatchObject({ type: "accepted" });
  });

  it("increases the backoff after each failure and resets it after a connection", async () => {
    const attempts: number[] = [];
    gateway.greet = (viewer) => (viewer.number === 3 ? viewer.send(READY) : viewer.cut());
    const connection = connect({ backoffMs: (attempt) => attempts.push(attempt) });
    await connection.opened();
    gateway.script = (_, viewer) => viewer.cut();
    connection.abort("c1");
    await reached(connection, "waiting");
    expect(attempts).toEqual([2, 3, 1]);
  });

  it("reconnects immediately on retryNow", async () => {
    gateway.script = (_, viewer) => viewer.cut();
    const connection = connect({ backoffMs: () => 3_600_000 });
    await connection.opened();
    connection.abort("c1");
    await reached(connection, "waiting");
    connection.retryNow();
    expect((await reached(connection, "open")).ready).toEqual(READY);
  });

  it("gives up after the configured retries and rejects everything that is pending", async () => {
    gateway.greet = (viewer) => viewer.cut();
    const connection = connect({ retries: 2 });
    const frames = connection.frames().next();
    const sent = connection.send(message);
    const gone = { code: "network" };
    await Promise.all([
      expect(connection.opened()).rejects.toMatchObject(gone),
      expect(frames).rejects.toMatchObject(gone),
      expect(sent).rejects.toMatchObject(gone),
    ]);
    expect(connection.state).toMatchObject({ kind: "closed", error: gone });
    await expect(connection.send(message)).rejects.toMatchObject(gone);
    await expect(connection.frames().next()).rejects.toMatchObject(gone);
  });

  it("stops reconnecting if the gateway rejects its token", async () => {
    gateway.token = "another";
    const connection = connect();
    await expect(connection.opened()).rejects.toMatchObject({ code: "unauthorized" });
    expect(connection.state).toMatchObject({ kind: "closed", error: { code: "unauthorized" } });
  });

  it("closes when its session ends", async () => {
    gateway.script = (_, viewer) => viewer.close(CLOSE_UNAUTHORIZED);
    const connection = connect();
    await expect(connection.send(message)).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("rejects a gateway with another protocol version", async () => {
    gateway.greet = (viewer) => viewer.sendRaw(JSON.stringify({ ...READY, protocol: 2 }));
    await expect(connect().opened()).rejects.toMatchObject({ code: "protocol" });
  });

  it("pings after silence and reconnects if there is no reply", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type === "ping" && viewer.number === 1 && gateway.received.length < 3)
        viewer.send({ type: "pong" });
    };
    const connection = connect({ pingMs: 5, pongMs: 50 });
    await connection.opened();
    await reached(connection, "waiting");
    expect(gateway.received.filter((frame) => frame.type === "ping")).toHaveLength(3);
    await reached(connection, "open");
  });

  it("reconnects if the gateway never sends ready", async () => {
    gateway.greet = (viewer) => {
      if (viewer.number > 1) viewer.send(READY);
    };
    expect(await connect({ pongMs: 20 }).opened()).toEqual(READY);
  });

  it("ignores events of a socket that it has replaced", async () => {
    const sockets: EventTarget[] = [];
    class Manual extends EventTarget {
      constructor() {
        super();
        sockets.push(this);
        queueMicrotask(() =>
          this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(READY) })),
        );
      }
      send(): void {}
      close(): void {}
    }
    const connection = createClient({ baseUrl: gateway.url, WebSocket: Manual }).connect({
      backoffMs: () => 1,
      pingMs: 3_600_000,
    });
    open.push(connection);
    await connection.opened();
    sockets[0]?.dispatchEvent(new Event("close"));
    await reached(connection, "open");
    const received: string[] = [];
    connection.onFrame((frame) => received.push(frame.type));
    sockets[0]?.dispatchEvent(new MessageEvent("message", { data: '{"type":"pong"}' }));
    sockets[0]?.dispatchEvent(new Event("close"));
    expect(connection.state.kind).toBe("open");
    expect(received).toEqual([]);
    expect(sockets).toHaveLength(2);
  });

  it("can be closed by a listener and more than once", async () => {
    gateway.script = (_, viewer) => viewer.cut();
    const connection = connect();
    await connection.opened();
    connection.onState(() => connection.close());
    const sent = connection.send(message);
    await expect(sent).rejects.toMatchObject({ code: "closed" });
    connection.close();
    expect(connection.state).toEqual({ kind: "closed" });
  });

  it("rejects an invalid URL and an invalid token", async () => {
    expect(() => createClient({ baseUrl: "not a url" })).toThrow(TypeError);
    const connection = createClient({ baseUrl: gateway.url, token: "a\nb" }).connect();
    await expect(connection.opened()).rejects.toMatchObject({ code: "network" });
  });
});
