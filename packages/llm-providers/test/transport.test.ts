import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, describe, expect, it } from "vitest";
import { anthropicMessages } from "../src/anthropic/index.ts";
import type { HttpRequest } from "../src/provider/transport.ts";
import { undiciTransport } from "../src/provider/undici.ts";

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

/** A connection is free again a turn of the event loop after its answer was read. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const open = new AbortController().signal;
const post = (url: string, body = "{}"): HttpRequest => ({ url, headers: {}, body });

describe("the built-in transport", () => {
  it("posts what it is given and gives back what the server says", async () => {
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
    const send = undiciTransport();
    const answer = await send({ url: `${url}/a?b=1`, headers: { "x-key": "k" }, body: "näh" }, open);
    expect([answer.status, answer.header("x-one"), answer.header("x-two")]).toEqual([200, "1", undefined]);
    expect(JSON.parse(await text(answer.body))).toEqual({
      method: "POST",
      url: "/a?b=1",
      key: "k",
      body: "näh",
    });
    const missing = await send(post(`${url}/missing`), open);
    expect([missing.status, await text(missing.body)]).toEqual([404, expect.stringContaining('"body":"{}"')]);
  });

  it("sends a request again, once, after a kept connection broke under it", async () => {
    const seen: string[] = [];
    const { url } = await serve((request, response) => {
      seen.push(request.url ?? "");
      if (request.url === "/first" || seen.length > 2) response.end("ok");
      else request.socket.resetAndDestroy();
    });
    const send = undiciTransport();
    await text((await send(post(`${url}/first`), open)).body);
    await settled();
    expect((await send(post(`${url}/second`), open)).status).toBe(200);
    expect(seen.filter((path) => path === "/second")).toHaveLength(2);
  });

  it("does not send a request again that broke a new connection", async () => {
    let requests = 0;
    const { url } = await serve((request) => {
      requests++;
      request.socket.destroy();
    });
    await expect(undiciTransport()(post(url), open)).rejects.toThrow();
    expect(requests).toBe(1);
  });

  it("keeps its connection from one request to the next", async () => {
    const { url, sockets } = await serve((_, response) => response.end("ok"));
    const send = undiciTransport();
    for (let i = 0; i < 5; i++) {
      await text((await send(post(url), open)).body);
      await settled();
    }
    expect(sockets.size).toBe(1);
  });

  it("keeps its connection where little of an answer was left unread", async () => {
    const { url, sockets } = await serve((_, response) => {
      response.write("begun");
      response.end(" and ended");
    });
    const send = undiciTransport();
    for await (const _ of (await send(post(url), open)).body) break;
    // Until the rest has come the first connection is not free.
    await expect
      .poll(async () => {
        const before = sockets.size;
        await text((await send(post(url), open)).body);
        return sockets.size - before;
      })
      .toBe(0);
    expect([...sockets].map(({ destroyed }) => destroyed)).not.toContain(true);
  });

  it("gives its connection up where much of an answer was left unread", async () => {
    const { url, sockets } = await serve((_, response) => {
      response.write("begun");
      response.end("x".repeat(10_000_000));
    });
    for await (const _ of (await undiciTransport()(post(url), open)).body) break;
    await expect.poll(() => [...sockets][0]?.destroyed).toBe(true);
  });

  it("asks once more, on a fresh connection, where the kept one was closed under it", async () => {
    let connections = 0;
    const requests: number[] = [];
    const server = createTcpServer((socket) => {
      const connection = ++connections;
      let answered = 0;
      socket.on("error", () => {});
      socket.on("data", () => {
        requests.push(connection);
        // The second request on the first connection finds it closed.
        if (connection === 1 && answered === 1) {
          socket.resetAndDestroy();
          return;
        }
        answered++;
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    closing.push(() => server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const send = undiciTransport();
    const first = await text((await send(post(url, "1"), open)).body);
    await settled();
    const second = await text((await send(post(url, "2"), open)).body);
    expect([first, second]).toEqual(["ok", "ok"]);
    expect(requests).toEqual([1, 1, 2]);
  });

  it("gives the connection up when aborted, before and after the answer began", async () => {
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
    const send = undiciTransport();
    const before = new AbortController();
    const waiting = send(post(url), before.signal);
    await expect.poll(() => connections).toBe(1);
    before.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    await expect(send(post(url), AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });

    const after = new AbortController();
    const answer = text((await send(post(`${url}/begin`), after.signal)).body);
    after.abort();
    await expect(answer).rejects.toThrow();
    await expect.poll(() => connections).toBe(0);
  });
});

it("asks a server of the host's own ahead of time, with no key, and takes its refusal for done", async () => {
  const asked: unknown[] = [];
  const { url } = await serve((request, response) => {
    asked.push([request.method, request.url, request.headers["x-api-key"]]);
    response.writeHead(404).end();
  });
  await anthropicMessages.load?.(`${url}/nowhere`);
  expect(asked).toEqual([["POST", "/nowhere/v1/messages", "none"]]);
});
