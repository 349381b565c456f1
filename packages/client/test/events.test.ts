import type { ServerResponse } from "node:http";
import { expect, it, onTestFinished } from "vitest";
import { createClient, type EventsOptions, type ServerFrame } from "../src/index.ts";
import { startFakeGateway, TOKEN } from "./fake-gateway.ts";

const PATH = "/api/conversations/c%201/events?agent=coder";
const FAST = { agent: "coder", backoffMs: () => 1 };
const frame = (delta: string, cursor: string): ServerFrame => ({
  type: "text.delta",
  conversation: "c 1",
  runId: "r1",
  delta,
  cursor,
});
const formatEvent = (each: ServerFrame) =>
  `${"cursor" in each ? `id: ${each.cursor}\n` : ""}data: ${JSON.stringify(each)}\n\n`;

/** @param answers handles the requests for the stream in order; the last one handles all further requests */
async function open(...answers: ((response: ServerResponse) => void)[]) {
  const gateway = await startFakeGateway();
  onTestFinished(() => gateway.stop());
  let count = 0;
  gateway.answers.set(PATH, (response) => {
    answers[Math.min(count++, answers.length - 1)]?.(response);
  });
  const client = createClient({ baseUrl: gateway.url, token: TOKEN });
  const read = (options: EventsOptions = {}) => client.events("c 1", { ...FAST, ...options });
  const cursors = () => gateway.requests.map(({ headers }) => headers["last-event-id"]);
  return { gateway, client, read, cursors };
}

const stream =
  (...pieces: string[]) =>
  (response: ServerResponse) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) response.write(piece);
  };
const broken =
  (...pieces: string[]) =>
  (response: ServerResponse) => {
    stream(...pieces)(response);
    setImmediate(() => response.destroy());
  };

async function take(frames: AsyncIterable<ServerFrame>, count: number): Promise<ServerFrame[]> {
  const taken: ServerFrame[] = [];
  for await (const each of frames) if (taken.push(each) === count) break;
  return taken;
}

it("parses frames that arrive in pieces and ignores unknown types", async () => {
  const text = `:\n\n${formatEvent(frame("你", "a.1"))}data: {"type":"of.tomorrow"}\n\n${formatEvent(frame("好", "a.2"))}`;
  const { read } = await open(stream(...text));
  expect(await take(read(), 2)).toEqual([frame("你", "a.1"), frame("好", "a.2")]);
});

it("reopens a broken stream after the last frame", async () => {
  const { read, cursors } = await open(
    broken(formatEvent(frame("a", "a.1"))),
    (response) => response.destroy(),
    (response) => response.writeHead(503).end(),
    stream(formatEvent(frame("b", "a.2"))),
  );
  expect(await take(read({ after: "a.0" }), 2)).toEqual([frame("a", "a.1"), frame("b", "a.2")]);
  expect(cursors()).toEqual(["a.0", "a.1", "a.1", "a.1"]);
});

it("reopens a silent stream", async () => {
  const { read, cursors } = await open(
    stream(formatEvent(frame("a", "a.1"))),
    stream(formatEvent(frame("b", "a.2"))),
  );
  expect(await take(read({ silenceMs: 50 }), 2)).toHaveLength(2);
  expect(cursors().slice(0, 2)).toEqual([undefined, "a.1"]);
});

it("gives up after the configured retries, and immediately if the token is rejected", async () => {
  const { gateway, read } = await open((response) => response.destroy());
  await expect(take(read({ retries: 2 }), 1)).rejects.toMatchObject({ code: "network" });
  expect(gateway.requests).toHaveLength(3);
  gateway.token = "another";
  await expect(take(read(), 1)).rejects.toMatchObject({ code: "unauthorized" });
});

it("ends when its signal is aborted and closes the stream when the reader leaves the loop", async () => {
  const closed = Promise.withResolvers<void>();
  const { read } = await open((response) => {
    response.on("close", closed.resolve);
    stream(formatEvent(frame("a", "a.1")))(response);
  });
  await take(read(), 1);
  await closed.promise;
  const stop = new AbortController();
  const seen: ServerFrame[] = [];
  for await (const each of read({ signal: stop.signal })) {
    seen.push(each);
    stop.abort();
  }
  expect(seen).toHaveLength(1);
});

it("sends a message and stops a run over HTTP", async () => {
  const { gateway, client } = await open();
  gateway.answers.set("/api/conversations/c1/messages", () => ({ messageId: "m1", duplicate: false }));
  gateway.answers.set("/api/conversations/c1/abort", (response) => void response.writeHead(204).end());
  const message = { agent: "coder", conversation: "c1", text: "你好" };
  expect(await client.send({ ...message, id: "s1" })).toEqual({ messageId: "m1", duplicate: false });
  await client.abort("c1", "coder");
  expect(gateway.requests.map(({ method, body }) => [method, JSON.parse(body)])).toEqual([
    ["POST", { id: "s1", agent: "coder", text: "你好" }],
    ["POST", { agent: "coder" }],
  ]);
});
