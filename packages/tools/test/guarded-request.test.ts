import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { createGuardedRequest } from "../src/index.ts";

async function serve(listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { host, url: `http://${host}/` };
}

it("sends any method and body to an allowed host, and returns any status", async () => {
  const { host, url } = await serve(async (request, response) => {
    const body = await text(request);
    response.writeHead(418, {
      "content-encoding": "gzip",
      "x-seen": `${request.method} ${request.headers["content-type"]}`,
    });
    response.end(gzipSync(`echo ${body}`));
  });
  const request = createGuardedRequest({ allow: [host] });
  const response = await request(url, { method: "POST", body: new URLSearchParams({ a: "b" }) });
  expect([response.status, await response.text()]).toEqual([418, "echo a=b"]);
  expect(response.headers.get("x-seen")).toBe("POST application/x-www-form-urlencoded;charset=UTF-8");
});

it("refuses a private address before it sends anything", async () => {
  const seen: unknown[] = [];
  const { url } = await serve((request, response) => {
    seen.push(request.url);
    response.end();
  });
  const request = createGuardedRequest();
  for (const target of [
    url,
    url.replace("127.0.0.1", "localhost"),
    "http://[::ffff:127.0.0.1]/",
    "http://169.254.169.254/",
  ])
    await expect(request(target)).rejects.toMatchObject({ code: "blocked" });
  const rebinding = createGuardedRequest({ resolve: async () => ["93.184.216.34", "10.0.0.1"] });
  await expect(rebinding("https://example.org/")).rejects.toMatchObject({ code: "blocked" });
  expect(seen).toEqual([]);
});

it("follows no redirect, and limits the size of the body", async () => {
  const { host, url } = await serve((request, response) => {
    if (request.url === "/large") response.end("x".repeat(10_000));
    else response.writeHead(302, { location: "http://169.254.169.254/" }).end();
  });
  const request = createGuardedRequest({ allow: [host], maxBytes: 1_000 });
  const response = await request(url);
  expect([response.status, response.headers.get("location")]).toEqual([302, "http://169.254.169.254/"]);
  await expect(request(`${url}large`)).rejects.toMatchObject({ code: "too_large" });
});
