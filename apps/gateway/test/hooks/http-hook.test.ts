import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { createHooks, type HookFailure } from "../../src/hooks/hooks.ts";
import { createHttpHook, type HttpHookOptions } from "../../src/hooks/http-hook.ts";
import type { Blocking } from "../../src/hooks/point-types.ts";

interface Points {
  readonly before_call: Blocking<{ readonly tool: string; readonly args: string }, "args">;
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${await listen(server)}/hook`;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

function gateWith(options: Partial<HttpHookOptions> & Pick<HttpHookOptions, "url">) {
  const failures: HookFailure[] = [];
  const hook = createHttpHook({ point: "before_call", name: "guard", ...options });
  const hooks = createHooks<Points>({
    points: { before_call: { kind: "block", change: z.object({ args: z.optional(z.string()) }) } },
    hooks: [],
    unchecked: () => [hook],
    onFailure: (failure) => failures.push(failure),
  });
  return { failures, ask: () => hooks.check("before_call", { tool: "exec", args: "rm -r /" }) };
}

describe("an HTTP hook", () => {
  it("receives a signed POST request, and its response is used", async () => {
    const seen: { headers: IncomingMessage["headers"]; body: string }[] = [];
    const url = await serve(async (request, response) => {
      seen.push({ headers: request.headers, body: await text(request) });
      response.end(JSON.stringify({ action: "allow", change: { args: "ls" } }));
    });
    const { ask } = gateWith({ url, secret: "a secret of ours", now: () => 1_700_000_000_500 });
    expect(await ask()).toMatchObject({ action: "allow", payload: { args: "ls" }, changed: true });
    const [{ headers, body } = { headers: {}, body: "" }] = seen;
    const payload = { tool: "exec", args: "rm -r /" };
    expect(JSON.parse(body)).toEqual({ hook: "guard", point: "before_call", payload });
    expect(headers["x-signalbox-timestamp"]).toBe("1700000000");
    const digest = createHmac("sha256", "a secret of ours").update(`1700000000.${body}`).digest("hex");
    expect(headers["x-signalbox-signature"]).toBe(`v1=${digest}`);
  });

  it.each<[string, RequestListener, object]>([
    ["says no", (_, response) => response.end('{"action":"deny","reason":"Never."}'), { reason: "Never." }],
    ["says nothing", (_, response) => response.writeHead(204).end(), { action: "allow" }],
    ["fails", (_, response) => response.writeHead(500).end('{"action":"allow"}'), { action: "deny" }],
    ["answers without a word", (_, response) => response.end(), { action: "deny" }],
    ["answers null", (_, response) => response.end("null"), { action: "deny" }],
    ["answers nonsense", (_, response) => response.end("<html>"), { action: "deny" }],
    [
      "sends it elsewhere",
      (_, response) => response.writeHead(302, { location: "/" }).end(),
      { action: "deny" },
    ],
    [
      "says too much",
      (_, response) => response.end(`{"action":"allow","x":"${"x".repeat(1e6)}"}`),
      { action: "deny" },
    ],
    [
      "changes what it may not",
      (_, response) => response.end('{"action":"allow","change":{"args":1}}'),
      { action: "deny" },
    ],
    ["breaks off", (request) => request.socket.destroy(), { action: "deny" }],
  ])("that %s is heeded as a gate", async (_, listener, verdict) => {
    const { ask } = gateWith({ url: await serve(listener) });
    expect(await ask()).toMatchObject(verdict);
  });

  it.each(["127.0.0.1", "localhost"])(
    "at %s where nobody listens denies, and the reason is told",
    async (host) => {
      const { ask, failures } = gateWith({ url: `http://${host}:${await closedPort()}/hook` });
      expect(await ask()).toMatchObject({ action: "deny" });
      expect(String(failures[0]?.error)).toContain("it cannot be reached: connect ECONNREFUSED");
    },
  );

  it("that does not respond in time denies, and its request is aborted", async () => {
    const gone = Promise.withResolvers<void>();
    const url = await serve((request) => void request.socket.on("close", () => gone.resolve()));
    const { ask, failures } = gateWith({ url, timeoutMs: 3_000 });
    expect(await ask()).toMatchObject({ action: "deny" });
    expect(failures).toMatchObject([{ hook: "guard", consequence: "denied" }]);
    await gone.promise;
  });
});
