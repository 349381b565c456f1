import {
  type ChannelContext,
  createInMemoryCache,
  createInMemoryState,
  type InboundEvent,
  isChannelError,
  systemClock,
} from "@signalbox/channel";
import { describe, expect, it } from "vitest";
import { attachmentOf, createWebHub, type WebUpdate } from "../src/index.ts";

const signal = new AbortController().signal;

async function openHub(emit?: ChannelContext["emit"]) {
  const hub = createWebHub();
  const events: InboundEvent[] = [];
  const warned: string[] = [];
  const quiet = () => {};
  const channel = await hub.definition.create({
    config: {},
    account: "main",
    logger: { debug: quiet, info: quiet, warn: (message) => void warned.push(message), error: quiet },
    fetch: globalThis.fetch,
    clock: systemClock,
    cache: createInMemoryCache({ clock: systemClock }),
    state: createInMemoryState(),
    signal,
    emit:
      emit ??
      (async (event) => {
        events.push(event);
        return "accepted";
      }),
  });
  await channel.start(signal);
  return { hub, channel, events, warned };
}

const text = (words: string) => ({ parts: [{ type: "markdown" as const, text: words }] });

describe("the web hub", () => {
  it("hands a message of an authenticated user in, under the client's id", async () => {
    const { hub, events } = await openHub();
    const message = {
      conversation: "c-1",
      user: { id: "alice", name: "Alice" },
      text: "hi\r\nthere",
      id: "m-1",
    };
    expect(await hub.submit(message)).toBe("accepted");
    expect(events).toMatchObject([
      {
        type: "message",
        channel: "web",
        account: "main",
        eventId: "m-1",
        address: "web:c-1",
        conversation: { id: "c-1", kind: "direct" },
        sender: { id: "alice", name: "Alice", isBot: false, isSelf: false },
        text: "hi\nthere",
      },
    ]);
  });

  it("passes on what the host says, and refuses while it is not running", async () => {
    const { hub, channel } = await openHub(async () => "rejected");
    const message = { conversation: "c-1", user: { id: "alice" }, text: "hi", id: "m-1" };
    expect(await hub.submit(message)).toBe("rejected");
    await expect(hub.submit({ ...message, id: "" })).rejects.toSatisfy(isChannelError);
    await channel.stop({ drainMs: 0 });
    await expect(hub.submit(message)).rejects.toMatchObject({ code: "transient" });
    await expect(createWebHub().submit(message)).rejects.toMatchObject({ code: "transient" });
  });

  it("shows messages to everybody who looks at the conversation, and to nobody else", async () => {
    const { hub, channel } = await openHub();
    const seen: [string, WebUpdate][] = [];
    const look = (who: string, conversation: string) =>
      hub.subscribe(conversation, (update) => void seen.push([who, update]));
    const stop = look("a", "c-1");
    look("b", "c-1");
    look("c", "c-2");
    const to = { conversation: "c-1" };
    await channel.send(to, text("one"), { idempotencyKey: "k", signal });
    stop();
    const receipt = await channel.send(
      to,
      { ...text("two"), replyTo: "m-1" },
      { idempotencyKey: "l", signal },
    );
    expect(receipt).toEqual({ parts: [{ index: 0, messageId: "l.0" }] });
    expect(seen.map(([who, update]) => [who, update.text])).toEqual([
      ["a", "one"],
      ["b", "one"],
      ["b", "two"],
    ]);
    expect(seen.at(-1)?.[1]).toMatchObject({ messageId: "l.0", replyTo: "m-1", markup: "markdown" });
  });

  it("tells of each part before it shows the next, so that a failure in between repeats none", async () => {
    const { hub, channel } = await openHub();
    const order: string[] = [];
    hub.subscribe("c-1", ({ text }) => void order.push(`shown ${text}`));
    const message = { parts: [...text("one").parts, ...text("two").parts] };
    const onPart = async ({ index }: { index: number }): Promise<void> => {
      order.push(`told ${index}`);
      if (index === 0) throw new Error("the disk is full");
    };
    const sending = channel.send({ conversation: "c-1" }, message, { idempotencyKey: "k", signal, onPart });
    await expect(sending).rejects.toThrow("the disk is full");
    expect(order).toEqual(["shown one", "told 0"]);
  });

  it("says what is special about its clients, and hands on what they want of the turn", async () => {
    const api = createWebHub({ id: "api", label: "API", awaitsSingleAnswer: true });
    expect(api.definition.capabilities).toMatchObject({
      readsSession: true,
      authenticatedByGateway: true,
      awaitsSingleAnswer: true,
    });
    expect(createWebHub().definition.capabilities.awaitsSingleAnswer).toBe(false);
    const { hub, events } = await openHub();
    const turn = { agent: "coder", instructions: "Be brief.", sampling: { temperature: 0 } };
    const message = { conversation: "c-1", user: { id: "c-1" }, text: "hi", id: "m-1" };
    await hub.submit({ ...message, forwardedFrom: "hook build", turn });
    expect(events).toMatchObject([{ forwarded: { from: "hook build" }, turn }]);
  });

  it("gives the attachments that clients send, and fetches others only where the host does", async () => {
    const { channel } = await openHub();
    const sent = attachmentOf("image", "data:image/png;base64,AAEC", "dot.png");
    const named = attachmentOf("image", "https://pictures.example/dot.png");
    if (sent === undefined || named === undefined) throw new Error("both are attachments");
    const { body, mimeType } = (await channel.fetchMedia?.(sent, signal)) ?? {};
    expect([mimeType, new Uint8Array(await new Response(body ?? null).arrayBuffer())]).toEqual([
      "image/png",
      new Uint8Array([0, 1, 2]),
    ]);
    await expect(channel.fetchMedia?.(named, signal)).rejects.toMatchObject({ code: "invalid" });
    expect(attachmentOf("file", "file:///etc/passwd")).toBeUndefined();
  });

  it.each([
    ["data:image/png;base64,AAEC", [0, 1, 2]],
    ["data:image/png;name=a.png;BASE64,AAE%3D", [0, 1]],
    ["data:text/plain;charset=utf-8,%C3%A4%20a", [0xc3, 0xa4, 0x20, 0x61]],
    ["data:,", []],
  ])("reads what %s holds", async (address, bytes) => {
    const { channel } = await openHub();
    const held = attachmentOf("file", address);
    if (held === undefined) throw new Error("it is an attachment");
    const fetched = await channel.fetchMedia?.(held, signal);
    expect([...new Uint8Array(await new Response(fetched?.body ?? null).arrayBuffer())]).toEqual(bytes);
  });

  it("refuses what cannot be read", async () => {
    const { channel } = await openHub();
    const broken = attachmentOf("file", "data:text/plain,100%");
    if (broken === undefined) throw new Error("it is an attachment");
    await expect(channel.fetchMedia?.(broken, signal)).rejects.toMatchObject({ code: "invalid" });
  });

  it("sends to a conversation that nobody looks at, under the same ids at every try", async () => {
    const { channel } = await openHub();
    const options = { idempotencyKey: "k", signal };
    const to = { conversation: "nobody" };
    const first = await channel.send(to, text("one"), options);
    expect(await channel.send(to, text("one"), options)).toEqual(first);
  });

  it("goes on when a viewer fails", async () => {
    const { hub, channel, warned } = await openHub();
    const seen: WebUpdate[] = [];
    hub.subscribe("c-1", () => {
      throw new Error("gone");
    });
    hub.subscribe("c-1", (update) => void seen.push(update));
    await channel.send({ conversation: "c-1" }, text("one"), { idempotencyKey: "k", signal });
    expect(seen).toHaveLength(1);
    expect(warned).toHaveLength(1);
  });
});
