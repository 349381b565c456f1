import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { undiciFetch } from "../src/provider/transport.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serve(listener: RequestListener): Promise<{ url: string; sockets: Set<unknown> }> {
  const sockets = new Set<unknown>();
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

describe("the built-in transport", () => {
  it("does what fetch does, as far as SDKs ask", async () => {
    const { url } = await serve((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        response.writeHead(request.url === "/missing" ? 404 : 200, {
          "x-one": "1",
          "content-type": "application/json",
        });
        response.end(
          JSON.stringify({ method: request.method, url: request.url, key: request.headers["x-key"], body }),
        );
      });
    });
    const fetch = undiciFetch();
    const response = await fetch(`${url}/a?b=1`, { method: "POST", body: "näh", headers: { "x-key": "k" } });
    expect([response.ok, response.status, response.headers.get("x-one")]).toEqual([true, 200, "1"]);
    expect(await response.json()).toEqual({ method: "POST", url: "/a?b=1", key: "k", body: "näh" });
    const missing = await fetch(new URL(`${url}/missing`), { method: "POST", body: new Uint8Array([65]) });
    expect([missing.ok, missing.status, await missing.text()]).toEqual([
      false,
      404,
      expect.stringContaining('"body":"A"'),
    ]);
    const copy = await fetch(url);
    expect(await copy.clone().text()).toBe(await copy.text());
  });

  it("sends a request again, once, after a kept connection broke under it", async () => {
    const seen: string[] = [];
    const { url } = await serve((request, response) => {
      seen.push(request.url ?? "");
      if (request.url === "/first" || seen.length > 2) response.end("ok");
      else request.socket.resetAndDestroy();
    });
    const fetch = undiciFetch();
    await (await fetch(`${url}/first`)).text();
    await settled();
    expect((await fetch(`${url}/second`, { method: "POST", body: "{}" })).status).toBe(200);
    expect(seen.filter((path) => path === "/second")).toHaveLength(2);
  });

  it("does not send a request again that broke a new connection", async () => {
    let requests = 0;
    const { url } = await serve((request) => {
      requests++;
      request.socket.destroy();
    });
    await expect(undiciFetch()(url, { method: "POST", body: "{}" })).rejects.toThrow();
    expect(requests).toBe(1);
  });

  it("keeps its connection from one request to the next", async () => {
    const { url, sockets } = await serve((_, response) => response.end("ok"));
    const fetch = undiciFetch();
    for (let i = 0; i < 5; i++) {
      await (await fetch(url)).text();
      await settled();
    }
    expect(sockets.size).toBe(1);
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
    const fetch = undiciFetch();
    const first = await (await fetch(url, { method: "POST", body: "1" })).text();
    await settled();
    const second = await (await fetch(url, { method: "POST", body: "2" })).text();
    expect([first, second]).toEqual(["ok", "ok"]);
    expect(requests).toEqual([1, 1, 2]);
  });

  it("gives the connection up when aborted, before and after the answer began", async () => {
    let open = 0;
    const { url } = await serve((request, response) => {
      open++;
      response.on("close", () => {
        open--;
      });
      if (request.url === "/begin") {
        response.writeHead(200);
        response.write("x");
      }
    });
    const fetch = undiciFetch();
    const before = new AbortController();
    const waiting = fetch(url, { signal: before.signal });
    await expect.poll(() => open).toBe(1);
    before.abort();
    await expect(waiting).rejects.toMatchObject({ name: "AbortError" });
    await expect(fetch(url, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });

    const after = new AbortController();
    const response = await fetch(`${url}/begin`, { signal: after.signal });
    const text = response.text();
    after.abort();
    await expect(text).rejects.toThrow();
    await expect.poll(() => open).toBe(0);
  });
});
