import { Agent, get, type IncomingMessage } from "node:http";
import { SESSION_KEY_HEADER, ServerFrame, SignedIn } from "@signalbox/protocol";
import { expect, it, onTestFinished, vi } from "vitest";
import { hashToken } from "../src/index.ts";
import { openServer, TOKEN } from "./harness.ts";
import { createMemoryService, createRunEvents } from "./memory-service.ts";

const SESSION = "web/second/c1";
const OWNER = { authorization: `Bearer ${TOKEN}` };
const PATH = "/api/conversations/c1/events";

async function open() {
  const service = createMemoryService();
  const server = await openServer(service);
  const agent = new Agent();
  onTestFinished(() => agent.destroy());
  /** Opens a stream and waits for the headers. */
  const stream = async (path = PATH, headers: Readonly<Record<string, string>> = OWNER) => {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(server.url + path, { agent, headers }, resolve).on("error", reject);
    });
    onTestFinished(() => void response.destroy());
    let raw = "";
    response.setEncoding("utf8").on("data", (piece) => {
      raw += piece;
    });
    // A response that is cut off emits an error.
    response.on("error", () => {});
    const ended = new Promise((resolve) => response.on("close", resolve));
    const blocks = () => raw.split("\n\n").filter((block) => block.includes("data: "));
    const frames = () =>
      blocks().map((block) => ServerFrame.parse(JSON.parse(block.split("data: ")[1] ?? "")));
    const lastId = () => /^id: (.*)$/m.exec(blocks().at(-1) ?? "")?.[1] ?? "";
    return { response, status: response.statusCode, frames, lastId, raw: () => raw, ended };
  };
  const post = (path: string, body: object, headers: object = OWNER) =>
    fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  return { service, server, stream, post };
}

it("streams the events of a conversation with their cursors", async () => {
  const { service, stream } = await open();
  const { response, frames, raw } = await stream();
  expect(response.headers).toMatchObject({
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
  });
  for (const event of createRunEvents("r1", ["m1"], ["One", " two"])) service.live.publish(SESSION, event);
  await expect
    .poll(() => frames().map(({ type }) => type))
    .toEqual(["subscribed", "run.start", "text.delta", "text.delta", "message", "run.end"]);
  const ids = [...raw().matchAll(/^id: (.*)$/gm)].map(([, id]) => id);
  expect(ids).toEqual(frames().map((frame) => "cursor" in frame && frame.cursor));
  expect(new Set(ids).size).toBe(6);
});

it("resumes in the middle of a text", async () => {
  const { service, stream } = await open();
  const first = await stream();
  const events = createRunEvents("r1", ["m1"], ["One", " two", " three"]);
  for (const event of events.slice(0, 2)) service.live.publish(SESSION, event);
  await expect.poll(() => first.frames().length).toBe(3);
  const cursor = first.lastId();
  first.response.destroy();
  for (const event of events.slice(2)) service.live.publish(SESSION, event);
  for (const back of [
    await stream(PATH, { ...OWNER, "last-event-id": cursor }),
    await stream(`${PATH}?after=${cursor}`),
  ]) {
    await expect
      .poll(() => back.frames().map(({ type }) => type))
      .toEqual(["subscribed", "text.delta", "message", "run.end"]);
    expect(back.frames()[0]).toMatchObject({ resumed: true });
    expect(back.frames()[1]).toMatchObject({ delta: " two three" });
  }
  const stranger = await stream(PATH, { ...OWNER, "last-event-id": "of-another-process.12" });
  await expect.poll(() => stranger.frames()).toMatchObject([{ type: "subscribed" }]);
  expect(stranger.frames()[0]).not.toHaveProperty("resumed");
});

it("accepts messages and stops runs over HTTP", async () => {
  const { service, post } = await open();
  const path = "/api/conversations/c1";
  const message = { id: "m1", agent: "second", text: "Hello" };
  const submit = async (body: object) => {
    const response = await post(`${path}/messages`, body);
    return [response.status, await response.json()];
  };
  expect(await submit(message)).toEqual([200, { messageId: "m1", duplicate: false }]);
  expect(await submit(message)).toEqual([200, { messageId: "m1", duplicate: true }]);
  expect(service.submissions).toMatchObject([{ channel: "web", conversation: "c1", text: "Hello" }]);
  expect(await submit({ ...message, text: "Other" })).toMatchObject([409, { error: { code: "id_taken" } }]);
  expect(await submit({ ...message, agent: "nobody" })).toMatchObject([
    404,
    { error: { code: "unknown_agent" } },
  ]);
  for (const wrong of [{}, { ...message, text: "" }, { ...message, id: "a b" }])
    expect(await submit(wrong)).toMatchObject([400, { error: { code: "bad_request" } }]);
  expect((await post(`${path}/abort`, {})).status).toBe(204);
  expect(service.stopped).toEqual(["c1"]);
});

it("separates the conversations of members", async () => {
  const { service, server, stream, post } = await open();
  const hash = hashToken("secret-of-alice");
  await server.access.tokens.add({ name: "alice", role: "member", hash, createdAt: 0 });
  const alice = { authorization: "Bearer secret-of-alice" };
  const { frames } = await stream(PATH, alice);
  await expect.poll(() => frames().length).toBe(1);
  for (const event of createRunEvents("r1", ["m1"], ["the owner's"])) service.live.publish(SESSION, event);
  for (const event of createRunEvents("r2", ["m2"], ["mine"]))
    service.live.publish("web/second/alice/c1", event);
  await expect.poll(() => frames().at(-1)?.type).toBe("run.end");
  expect(JSON.stringify(frames())).not.toContain("the owner's");
  await post("/api/conversations/c1/messages", { id: "m3", agent: "second", text: "Hi" }, alice);
  expect(service.submissions).toMatchObject([{ conversation: "alice/c1" }]);
});

it("closes the stream when the session that opened it ends", async () => {
  const { service, stream, post } = await open();
  const signedIn = await post("/api/login", { token: TOKEN }, {});
  const [cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  const { sessionKey } = SignedIn.parse(await signedIn.json());
  const browser = { cookie, [SESSION_KEY_HEADER]: sessionKey };
  const { frames, ended } = await stream(PATH, browser);
  await expect.poll(() => frames().length).toBe(1);
  expect((await post("/api/logout", {}, browser)).status).toBe(200);
  await ended;
  expect(service.live.watched(SESSION)).toBe(false);
  expect((await stream(PATH, browser)).status).toBe(401);
});

it("allows 100 streams per token and unsubscribes closed ones", async () => {
  const { service, stream } = await open();
  const streams = await Promise.all(Array.from({ length: 100 }, () => stream()));
  expect(new Set(streams.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await stream()).status).toBe(429);
  for (const { response } of streams) response.destroy();
  await expect.poll(() => service.live.watched(SESSION)).toBe(false);
  await expect.poll(async () => (await stream()).status).toBe(200);
});

it("opens no stream for a HEAD request", async () => {
  const { service, server, stream } = await open();
  for (let asked = 0; asked < 101; asked++)
    expect((await fetch(server.url + PATH, { method: "HEAD", headers: OWNER })).status).toBe(200);
  expect(service.live.watched(SESSION)).toBe(false);
  expect((await stream()).status).toBe(200);
});

it("disconnects a viewer that does not read", async () => {
  const { service, stream } = await open();
  const { response } = await stream();
  response.pause();
  await expect.poll(() => service.live.watched(SESSION)).toBe(true);
  const message = { id: "m", role: "assistant", text: "x".repeat(1_000_000), at: 0 } as const;
  for (let count = 0; count < 40 && service.live.watched(SESSION); count++) {
    service.live.publish(SESSION, { type: "message", message });
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => service.live.watched(SESSION)).toBe(false);
});

it("sends a keep-alive comment every 15 seconds and ends when the gateway stops", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const { server, stream } = await open();
  const { raw, ended } = await stream();
  await expect.poll(raw).toContain("subscribed");
  vi.advanceTimersByTime(15_000);
  await expect.poll(raw).toMatch(/\n\n:\n\n$/);
  await server.stop(60_000);
  await ended;
});
