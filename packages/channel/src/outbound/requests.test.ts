import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ChannelError, type ChannelErrorCode, createRequests, systemClock, textAt } from "../index.ts";
import type { RequestsOptions } from "./requests.ts";

const TOKEN = "token-that-must-not-leak";
const seen: { method: string; type: string | undefined; authorization: string | undefined; body: string }[] =
  [];
let respond: (response: ServerResponse) => void = (response) => response.end("{}");

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const { "content-type": type, authorization } = request.headers;
  seen.push({ method: request.method ?? "", type, authorization, body: Buffer.concat(chunks).toString() });
  respond(response);
});
let base = "";
/** An address without a listening server. */
let closed = "";

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
  closed = `http://127.0.0.1:${(other.address() as AddressInfo).port}/${TOKEN}`;
  await new Promise((resolve) => other.close(resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/${TOKEN}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const { signal } = new AbortController();

function open(options: Partial<RequestsOptions> = {}) {
  return createRequests({
    fetch: globalThis.fetch,
    clock: systemClock,
    platform: "Mine",
    headers: () => ({ authorization: `Bearer ${TOKEN}` }),
    timeoutMs: 20_000,
    ...options,
  });
}

const write = { what: "sending a message", body: { text: "hi" }, signal };
const read = { what: "reading a message", signal };

async function failure(work: Promise<unknown>): Promise<ChannelError> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ChannelError)) throw new Error(`expected a ChannelError, but got ${String(error)}`);
  return error;
}

describe("createRequests", () => {
  it("sends JSON with the headers of the account and returns the object of the response", async () => {
    respond = (response) => response.end('{"id":"m1"}');
    expect(await open().json({ ...write, url: base })).toEqual({ id: "m1" });
    expect(seen.at(-1)).toEqual({
      method: "POST",
      type: "application/json",
      authorization: `Bearer ${TOKEN}`,
      body: '{"text":"hi"}',
    });
  });

  it("returns an empty object for an empty response", async () => {
    respond = (response) => response.writeHead(204).end();
    expect(await open().json({ ...read, url: base })).toEqual({});
  });

  it.each([
    [401, "auth"],
    [403, "permission"],
    [404, "not_found"],
    [413, "too_large"],
    [429, "rate_limited"],
    [400, "invalid"],
    [302, "invalid"],
    [500, "unknown_outcome"],
  ] as const)("maps HTTP %i of a write to %s", async (status, code) => {
    respond = (response) => response.writeHead(status, { location: `${base}/elsewhere` }).end();
    const count = seen.length;
    const error = await failure(open().json({ ...write, url: base }));
    expect(error).toMatchObject({
      code,
      platformCode: String(status),
      scope: code === "auth" ? "account" : "message",
    });
    expect(seen.length, "a redirect must not be followed").toBe(count + 1);
  });

  it("maps a 5xx of a read to transient", async () => {
    respond = (response) => response.writeHead(502).end();
    expect(await failure(open().json({ ...read, url: base }))).toMatchObject({ code: "transient" });
  });

  it("takes retryAfterMs from Retry-After, or a default for a rate limit without a time", async () => {
    respond = (response) => response.writeHead(429, { "retry-after": "3" }).end();
    expect(await failure(open().json({ ...write, url: base }))).toMatchObject({ retryAfterMs: 3_000 });
    respond = (response) => response.writeHead(429).end();
    expect(await failure(open({ rateWaitMs: 7_000 }).json({ ...write, url: base }))).toMatchObject({
      retryAfterMs: 7_000,
    });
  });

  it("lets the channel interpret error responses, and errors in successful ones", async () => {
    respond = (response) => response.writeHead(400).end('{"code":"131030","text":"not allowed"}');
    const readError: RequestsOptions["readError"] = ({ payload = {} }) => ({
      code: "permission",
      platformCode: textAt(payload, "code"),
      reason: textAt(payload, "text"),
    });
    const refused = await failure(open({ readError }).json({ ...write, url: base }));
    expect(refused).toMatchObject({ code: "permission", platformCode: "131030" });
    expect(refused.message).toBe("Mine: sending a message: HTTP 400, 131030: not allowed");
    respond = (response) => response.end('{"errcode":1}');
    const findError = () => ({ code: "not_found", platformCode: "1" }) as const;
    expect(await failure(open({ findError }).json({ ...write, url: base }))).toMatchObject({
      code: "not_found",
    });
  });

  it("fails a write without a response as unknown_outcome, by time limit and by signal", async () => {
    respond = () => {};
    expect(await failure(open({ timeoutMs: 1_000 }).json({ ...write, url: base }))).toMatchObject({
      code: "unknown_outcome",
    });
    const caller = new AbortController();
    const sending = failure(open({ timeoutMs: 60_000 }).json({ ...write, url: base, signal: caller.signal }));
    const count = seen.length;
    while (seen.length === count) await new Promise((resolve) => setTimeout(resolve, 5));
    caller.abort();
    expect(await sending).toMatchObject({ code: "unknown_outcome" });
  });

  it("fails a write whose response breaks off or is not JSON as unknown_outcome, and a read as transient", async () => {
    respond = (response) => {
      response.writeHead(200, { "content-length": "100" }).write("{");
      setTimeout(() => response.destroy(), 10);
    };
    expect(await failure(open().json({ ...write, url: base }))).toMatchObject({ code: "unknown_outcome" });
    respond = (response) => response.end("<html>");
    expect(await failure(open().json({ ...write, url: base }))).toMatchObject({ code: "unknown_outcome" });
    expect(await failure(open().json({ ...read, url: base }))).toMatchObject({ code: "transient" });
  });

  it("fails as transient if the request certainly did not reach the platform", async () => {
    const aborted = { ...write, url: base, signal: AbortSignal.abort() };
    const count = seen.length;
    expect(await failure(open().json(aborted))).toMatchObject({ code: "transient" });
    expect(await failure(open().json({ ...write, url: closed }))).toMatchObject({
      code: "transient",
    });
    expect(seen.length).toBe(count);
  });

  it.each([
    ["a URL that is invalid", { url: "not a url" }, {}, "invalid"],
    ["a body that JSON cannot express", { body: { n: 1n } }, {}, "invalid"],
    ["a header with a line break", {}, { headers: () => ({ authorization: `${TOKEN}\n.` }) }, "transient"],
    ["a header of the request with a line break", { headers: { "x-key": `${TOKEN}\n.` } }, {}, "transient"],
    ["headers that fail", {}, { headers: () => Promise.reject(new Error(TOKEN)) }, "transient"],
  ] as const)("fails a write with %s without sending it or quoting it", async (_, request, options, code) => {
    const count = seen.length;
    const error = await failure(open(options).json({ ...write, url: base, ...request }));
    expect(error.code).toBe(code);
    expect(`${error.message} ${String(error.cause)} ${JSON.stringify(error)}`).not.toContain(TOKEN);
    expect(seen.length).toBe(count);
  });

  it("fails with the error of the request for a token, but never as unknown_outcome", async () => {
    const failing = (code: ChannelErrorCode) =>
      failure(
        open({ headers: () => Promise.reject(new ChannelError(code, "no token")) }).json({
          ...write,
          url: base,
        }),
      );
    const count = seen.length;
    expect(await failing("auth")).toMatchObject({ code: "auth", message: "no token" });
    expect(await failing("unknown_outcome")).toMatchObject({ code: "transient" });
    expect(seen.length).toBe(count);
  });

  it("sends nothing after the time limit passed, or the signal fired, while it waited for headers", async () => {
    const count = seen.length;
    const late: RequestsOptions["headers"] = async (ending) => {
      while (!ending.aborted) await new Promise((resolve) => setTimeout(resolve, 5));
      return {};
    };
    const timeUp = failure(open({ timeoutMs: 20, headers: late }).json({ ...write, url: base }));
    expect(await timeUp).toMatchObject({ code: "transient" });
    const caller = new AbortController();
    const aborted = failure(open({ headers: late }).json({ ...write, url: base, signal: caller.signal }));
    caller.abort();
    expect(await aborted).toMatchObject({ code: "transient" });
    expect(seen.length).toBe(count);
  });

  it("reveals neither the URL nor the headers in errors", async () => {
    const errors = [
      await failure(open().json({ ...write, url: closed })),
      await failure(open().json({ ...write, url: `not a url ${TOKEN}` })),
    ];
    respond = (response) => response.destroy();
    errors.push(await failure(open().json({ ...write, url: base })));
    for (const error of errors)
      expect(`${error.message} ${String(error.cause)} ${JSON.stringify(error)}`).not.toContain(TOKEN);
  });

  it("returns the unread response for a download, whose body may take longer than the time limit", async () => {
    respond = (response) => {
      response.writeHead(200, { "content-type": "image/png" });
      response.write("a");
      setTimeout(() => response.end("b"), 2_200);
    };
    const response = await open({ timeoutMs: 2_000 }).open({ ...read, url: base });
    expect(await response.text()).toBe("ab");
  });

  it("ends the body of a download when the signal fires", async () => {
    respond = (response) => void response.writeHead(200).write("a");
    const caller = new AbortController();
    const response = await open().open({ ...read, url: base, signal: caller.signal });
    caller.abort();
    await expect(response.text()).rejects.toThrow();
  });
});
