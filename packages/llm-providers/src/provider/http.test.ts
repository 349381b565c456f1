import { createServer, type RequestListener } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { bodyText, defaultFetch, responseBytes } from "./http.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<{ url: string; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>();
  const server = createServer(listener);
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

const open = new AbortController().signal;
const post = (url: string, signal = open): Promise<Response> =>
  defaultFetch(url, { method: "POST", body: "{}", signal });
const read = async (response: Response): Promise<string> => bodyText(responseBytes(response, open));

describe("the default fetch", () => {
  it("sends method, path, headers and body, and returns status, headers and body", async () => {
    const { url } = await serve((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        const { method, url, headers } = request;
        response.writeHead(url === "/missing" ? 404 : 200, { "x-one": "1" });
        response.end(JSON.stringify({ method, url, key: headers["x-key"], body }));
      });
    });
    const response = await defaultFetch(`${url}/a?b=1`, {
      method: "POST",
      headers: { "x-key": "k" },
      body: "näh",
    });
    expect([response.status, response.headers.get("x-one")]).toEqual([200, "1"]);
    expect(JSON.parse(await read(response))).toEqual({
      method: "POST",
      url: "/a?b=1",
      key: "k",
      body: "näh",
    });
    expect((await post(`${url}/missing`)).status).toBe(404);
  });

  it("reuses its connection", async () => {
    const { url, sockets } = await serve((_, response) => response.end("ok"));
    for (let i = 0; i < 5; i++) {
      await read(await post(url));
      await setImmediate();
    }
    expect(sockets.size).toBe(1);
  });
});

describe("responseBytes", () => {
  it("drains a short unread rest, so that the connection is reused", async () => {
    const { url, sockets } = await serve((_, response) => {
      response.write("begun");
      response.end(" and ended");
    });
    for await (const _ of responseBytes(await post(url), open)) break;
    // The first connection is busy until the rest has arrived.
    await expect
      .poll(async () => {
        const before = sockets.size;
        await read(await post(url));
        return sockets.size - before;
      })
      .toBe(0);
    expect([...sockets].map(({ destroyed }) => destroyed)).not.toContain(true);
  });

  it("closes the connection if the unread rest is long", async () => {
    const { url, sockets } = await serve((_, response) => {
      response.write("begun");
      response.end("x".repeat(10_000_000));
    });
    for await (const _ of responseBytes(await post(url), open)) break;
    await expect.poll(() => [...sockets][0]?.destroyed).toBe(true);
  });

  it("closes the connection when it is aborted, before and after the response began", async () => {
    let connections = 0;
    const { url } = await serve((request, response) => {
      connections++;
      response.on("close", () => {
        connections--;
      });
      if (request.url === "/begin") {
        response.writeHead(200);
        response.write("x");
      }
    });
    const before = new AbortController();
    const waiting = post(url, before.signal);
    await expect.poll(() => connections).toBe(1);
    before.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });

    const after = new AbortController();
    const response = await post(`${url}/begin`, after.signal);
    const body = bodyText(responseBytes(response, after.signal)).catch(() => {});
    after.abort();
    await body;
    await expect.poll(() => connections).toBe(0);
  });
});
