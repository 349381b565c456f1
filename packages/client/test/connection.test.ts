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
import { READY, type StandIn, startStandIn, TOKEN } from "./stand-in.ts";

let gateway: StandIn;
const open: Connection[] = [];
beforeEach(async () => {
  gateway = await startStandIn();
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

/** The next state of one kind. */
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
    ["the platform's WebSocket", undefined],
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

  it("gives every frame to listeners and to each reader, and ends them on close", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type === "subscribe")
        viewer.say(
          { type: "subscribed", conversation: "c1", busy: true },
          { type: "run.start", conversation: "c1", runId: "r1" },
          { type: "text.delta", conversation: "c1", runId: "r1", delta: "a" },
          { type: "pong" },
        );
    };
    const connection = connect();
    const heard: string[] = [];
    connection.onFrame((frame) => void heard.push(frame.type));
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
    expect(heard).toEqual(all);
    expect(connection.state).toEqual({ kind: "closed" });
  });

  it("ignores frames that it does not know or cannot read", async () => {
    gateway.script = (_, viewer) => {
      viewer.raw("{");
      viewer.raw('{"type":"of.tomorrow"}');
      viewer.raw('{"type":"text.delta","conversation":1}');
      viewer.say({ type: "pong" });
    };
    const connection = connect();
    await connection.opened();
    const frames = connection.frames();
    connection.abort("c1");
    expect(await frames.next()).toEqual({ done: false, value: { type: "pong" } });
  });

  it("comes back after a cut, subscribes again and repeats only what was not accepted", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type !== "send") return;
      if (frame.id === "first") viewer.say(accepted(frame.id));
      else if (viewer.number < 3) viewer.cut();
      else viewer.say(accepted(frame.id, true));
    };
    const connection = connect();
    connection.subscribe("c1", "coder");
    const left = connection.subscribe("c2");
    await connection.opened();
    left();
    left();
    await connection.send({ ...message, id: "first" });
    expect(await connection.send({ ...message, id: "second" })).toMatchObject({ duplicate: true });
    const sent = gateway.received.map((frame) =>
      frame.type === "send" ? frame.id : "conversation" in frame && `${frame.type} ${frame.conversation}`,
    );
    expect(sent.filter((each) => each === "first")).toEqual(["first"]);
    expect(sent.filter((each) => each === "second")).toEqual(["second", "second", "second"]);
    expect(sent.filter((each) => each === "subscribe c1")).toHaveLength(3);
    expect(sent.filter((each) => each === "subscribe c2").length).toBeLessThanOrEqual(1);
    // A viewer subscribes before it speaks, so that it misses nothing of the answer.
    expect(sent.lastIndexOf("subscribe c1")).toBeLessThan(sent.lastIndexOf("second"));
  });

  it("asks once for what a listener wants as soon as it is open", async () => {
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

  it("asks after a cut for what came behind the last frame", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type !== "subscribe") return;
      viewer.say({
        type: "text.delta",
        conversation: frame.conversation,
        runId: "r1",
        delta: "a",
        cursor: "a.1",
      });
      if (viewer.number === 1) viewer.cut();
      else viewer.say({ type: "pong" });
    };
    const connection = connect();
    connection.subscribe("c1");
    for await (const frame of connection.frames()) if (frame.type === "pong") break;
    expect(gateway.received).toEqual([
      { type: "subscribe", conversation: "c1" },
      { type: "subscribe", conversation: "c1", after: "a.1" },
    ]);
  });

  it("ends a subscription once nobody holds it any more", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type === "ping") viewer.say({ type: "pong" });
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

  it("is told what goes on in the gateway, also after a cut, until nobody watches", async () => {
    const activity = { runs: [], waiting: [], commands: [], schedules: [] };
    let viewers = 0;
    gateway.script = (frame, viewer) => {
      if (frame.type !== "watch") return;
      viewers = viewer.number;
      viewer.say({ type: "activity", activity });
      if (viewer.number === 1) viewer.cut();
    };
    const connection = connect();
    const told: number[] = [];
    const first = connection.watch(() => told.push(1));
    await expect.poll(() => viewers).toBe(2);
    await expect.poll(() => told).toEqual([1, 1]);
    // Who joins later is told what the others know, and the gateway is not asked again.
    const second = connection.watch(() => told.push(2));
    expect(told).toEqual([1, 1, 2]);
    first();
    first();
    second();
    await expect.poll(() => gateway.received.map(({ type }) => type)).toEqual(["watch", "watch", "unwatch"]);
  });

  it("keeps a message that is sent before there is a connection", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type === "send") viewer.say(accepted(frame.id));
    };
    const connection = connect();
    const both = [connection.send({ ...message, id: "a" }), connection.send({ ...message, id: "a" })];
    expect(await Promise.all(both)).toMatchObject([{ messageId: "m-a" }, { messageId: "m-a" }]);
    expect(gateway.received).toHaveLength(1);
  });

  it("rejects a send that the gateway refuses, and keeps the connection", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type === "send")
        viewer.say({ type: "error", id: frame.id, code: "full", message: "Full.", remedy: "Wait." });
    };
    const connection = connect();
    await expect(connection.send(message)).rejects.toMatchObject({ code: "full", remedy: "Wait." });
    expect(connection.state.kind).toBe("open");
  });

  it("does not repeat for ever a message that is too long for a frame", async () => {
    await gateway.stop();
    gateway = await startStandIn({ maxPayload: 1000 });
    gateway.script = (frame, viewer) => {
      if (frame.type === "send" && viewer.number > 1) viewer.say(accepted(frame.id));
    };
    const connection = connect();
    const short = connection.send(message);
    const long = connection.send({ ...message, text: "长".repeat(1000) });
    await expect(long).rejects.toMatchObject({ code: "too_large" });
    expect(await short).toMatchObject({ type: "accepted" });
  });

  it("waits longer after each failure, and starts over once it was connected", async () => {
    const attempts: number[] = [];
    gateway.greet = (viewer) => (viewer.number === 3 ? viewer.say(READY) : viewer.cut());
    const connection = connect({ backoffMs: (attempt) => attempts.push(attempt) });
    await connection.opened();
    gateway.script = (_, viewer) => viewer.cut();
    connection.abort("c1");
    await reached(connection, "waiting");
    expect(attempts).toEqual([2, 3, 1]);
  });

  it("tries at once when told to", async () => {
    gateway.script = (_, viewer) => viewer.cut();
    const connection = connect({ backoffMs: () => 3_600_000 });
    await connection.opened();
    connection.abort("c1");
    await reached(connection, "waiting");
    connection.retryNow();
    expect((await reached(connection, "open")).ready).toEqual(READY);
  });

  it("gives up where a limit is set, and says so to everyone who waits", async () => {
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

  it("stops trying once the gateway does not know it", async () => {
    gateway.token = "another";
    const connection = connect();
    await expect(connection.opened()).rejects.toMatchObject({ code: "unauthorized" });
    expect(connection.state).toMatchObject({ kind: "closed", error: { code: "unauthorized" } });
  });

  it("stops when its session ends", async () => {
    gateway.script = (_, viewer) => viewer.close(CLOSE_UNAUTHORIZED);
    const connection = connect();
    await expect(connection.send(message)).rejects.toMatchObject({ code: "unauthorized" });
  });

  it("says that the gateway speaks another version", async () => {
    gateway.greet = (viewer) => viewer.raw(JSON.stringify({ ...READY, protocol: 2 }));
    await expect(connect().opened()).rejects.toMatchObject({ code: "protocol" });
  });

  it("pings in silence, and leaves a connection on which nothing comes back", async () => {
    gateway.script = (frame, viewer) => {
      if (frame.type === "ping" && viewer.number === 1 && gateway.received.length < 3)
        viewer.say({ type: "pong" });
    };
    const connection = connect({ pingMs: 5, pongMs: 50 });
    await connection.opened();
    await reached(connection, "waiting");
    expect(gateway.received.filter((frame) => frame.type === "ping")).toHaveLength(3);
    await reached(connection, "open");
  });

  it("leaves a connection that never says ready", async () => {
    gateway.greet = (viewer) => {
      if (viewer.number > 1) viewer.say(READY);
    };
    expect(await connect({ pongMs: 20 }).opened()).toEqual(READY);
  });

  it("pays no heed to what a socket that it left says later", async () => {
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
    const heard: string[] = [];
    connection.onFrame((frame) => heard.push(frame.type));
    sockets[0]?.dispatchEvent(new MessageEvent("message", { data: '{"type":"pong"}' }));
    sockets[0]?.dispatchEvent(new Event("close"));
    expect(connection.state.kind).toBe("open");
    expect(heard).toEqual([]);
    expect(sockets).toHaveLength(2);
  });

  it("may be closed at any time, also by a listener and twice", async () => {
    gateway.script = (_, viewer) => viewer.cut();
    const connection = connect();
    await connection.opened();
    connection.onState(() => connection.close());
    const sent = connection.send(message);
    await expect(sent).rejects.toMatchObject({ code: "closed" });
    connection.close();
    expect(connection.state).toEqual({ kind: "closed" });
  });

  it("refuses an address that can never work", async () => {
    expect(() => createClient({ baseUrl: "not a url" })).toThrow(TypeError);
    const connection = createClient({ baseUrl: gateway.url, token: "a\nb" }).connect();
    await expect(connection.opened()).rejects.toMatchObject({ code: "network" });
  });
});
