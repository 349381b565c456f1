import { once } from "node:events";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { openWebProxy, type WebProxyOptions } from "../src/index.ts";

const HOSTS: Readonly<Record<string, readonly string[]>> = {
  "public.test": ["127.0.0.1"],
  "rebinding.test": ["93.184.215.14", "127.0.0.1"],
  "inside.test": ["10.0.0.7"],
  "metadata.test": ["169.254.169.254"],
  "mapped.test": ["::ffff:127.0.0.1"],
};

async function openProxy(options: WebProxyOptions = {}) {
  const proxy = await openWebProxy({ resolve: async (host) => HOSTS[host] ?? [], ...options });
  onTestFinished(() => proxy.close());
  return {
    proxy,
    /** Sends bytes to the proxy, and returns its response. */
    async send(bytes: string): Promise<string> {
      const socket = connect(proxy.socket);
      socket.write(bytes);
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk.toString("latin1");
      });
      await Promise.race([once(socket, "close"), once(socket, "end")]);
      return received;
    },
  };
}

async function startServer(): Promise<{ readonly port: number; readonly requests: string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.headers.host}${request.url}`);
    response.setHeader("connection", "close").end("hello");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { port: typeof address === "object" && address !== null ? address.port : 0, requests };
}

it.each([
  "127.0.0.1:8080",
  "127.0.0.1:80",
  "127.1.2.3:443",
  "0.0.0.0:443",
  "10.1.2.3:443",
  "172.16.0.1:443",
  "192.168.1.1:443",
  "100.64.0.1:443",
  "169.254.169.254:80",
  "168.63.129.16:80",
  "2130706433:80",
  "0x7f000001:80",
  "0177.0.0.1:80",
  "[::1]:443",
  "[::]:443",
  "[fe80::1]:443",
  "[fd00::1]:443",
  "[::ffff:127.0.0.1]:443",
  "[::ffff:7f00:1]:443",
  "[64:ff9b::7f00:1]:443",
  "[2002:7f00:1::]:443",
  "localhost:80",
  "rebinding.test:443",
  "inside.test:443",
  "metadata.test:80",
  "mapped.test:443",
  "public.test:22",
  "public.test:6379",
])("refuses a connection to %s", async (authority) => {
  const { send } = await openProxy({ resolve: async (host) => HOSTS[host] ?? ["127.0.0.1"] });
  expect(await send(`CONNECT ${authority} HTTP/1.1\r\nhost: ${authority}\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 403 /,
  );
  expect(
    await send(`GET http://${authority}/latest/meta-data HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
  ).toMatch(/^HTTP\/1.1 403 /);
});

it("reaches an allowed host, and only at its port", async () => {
  const { port, requests } = await startServer();
  const other = await startServer();
  const { send } = await openProxy({ allow: [`public.test:${port}`] });
  expect(
    await send(`GET http://public.test:${port}/a HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
  ).toContain("hello");
  expect(requests).toEqual([`GET public.test:${port}/a`]);
  expect(
    await send(`GET http://public.test:${other.port}/a HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
  ).toContain(" 403 ");
  expect(
    await send(`GET http://127.0.0.1:${port}/a HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
  ).toContain(" 403 ");
  expect(other.requests).toEqual([]);
});

it("resolves a name once for each connection, so that a later change of the name has no effect", async () => {
  const { port, requests } = await startServer();
  const lookups: string[] = [];
  const { send } = await openProxy({
    allow: [`public.test:${port}`],
    async resolve(host) {
      lookups.push(host);
      return lookups.length === 1 ? ["127.0.0.1"] : ["127.0.0.2"];
    },
  });
  expect(
    await send(`GET http://public.test:${port}/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
  ).toContain("hello");
  expect(lookups).toEqual(["public.test"]);
  expect(requests).toHaveLength(1);
});

it("answers nothing but proxy requests", async () => {
  const { send } = await openProxy();
  expect(await send("GET / HTTP/1.1\r\nhost: 127.0.0.1:3128\r\nconnection: close\r\n\r\n")).toMatch(
    /^HTTP\/1.1 403 /,
  );
});

it("closes a connection that sends more than it may", async () => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => {});
    const send = (): void => {
      while (!socket.destroyed && socket.write(Buffer.alloc(65_536, "a")));
      socket.once("drain", send);
    };
    send();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const { send } = await openProxy({ allow: [`public.test:${port}`], maxBytes: 1_000_000 });
  const received = await send(`CONNECT public.test:${port} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  expect(received.length).toBeLessThan(3_000_000);
});

it("gives up the lookup of a request whose client has closed", async () => {
  const lookups: AbortSignal[] = [];
  const { proxy } = await openProxy({
    resolve(_, signal) {
      lookups.push(signal);
      return new Promise(() => {});
    },
  });
  const client = connect(proxy.socket);
  client.write("GET http://public.test/ HTTP/1.1\r\nhost: x\r\n\r\n");
  await expect.poll(() => lookups.length).toBe(1);
  client.destroy();
  await expect.poll(() => lookups[0]?.aborted).toBe(true);
});
