import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { recordReachability } from "./reachability.ts";

async function serve(status: number): Promise<string> {
  const server = createServer((_request, response) => void response.writeHead(status).end("{}"));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Returns a loopback URL at which no server listens. */
async function getUnusedUrl(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

it("names the host and the cause of a failed request, without its path", async () => {
  const { fetch, describe } = recordReachability(globalThis.fetch);
  const unused = await getUnusedUrl();
  await expect(fetch(`${unused}/bot42:secret/getMe`)).rejects.toThrow();
  expect(describe()).toBe(`${new URL(unused).host}: the connection is refused (ECONNREFUSED)`);
  const url = await serve(503);
  await fetch(`${url}/bot42:secret/getMe`);
  expect(describe()).toBe(`${new URL(url).host}: HTTP 503`);
});

it("reports nothing once a host has responded, even with a refusal", async () => {
  const { fetch, describe } = recordReachability(globalThis.fetch);
  await expect(fetch(await getUnusedUrl())).rejects.toThrow();
  await fetch(await serve(401));
  expect(describe()).toBeUndefined();
});
