import { createServer, type Server, type Socket } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { failedToConnect } from "../index.ts";
import { trackRequests } from "./request-phase.ts";

const fetch = trackRequests(globalThis.fetch);

async function serve(onConnection: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function fail(url: string, signal?: AbortSignal): Promise<unknown> {
  const request = fetch(url, { method: "POST", body: "hello", signal });
  return request.then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("a request that failed", () => {
  it("was certainly not sent if its host has no address", async () => {
    expect(failedToConnect(await fail("http://nosuch.invalid/"))).toBe(true);
  });

  it("was certainly not sent if TLS could not be established", async () => {
    const port = await serve((socket) => socket.end("no TLS here"));
    expect(failedToConnect(await fail(`https://127.0.0.1:${port}/`))).toBe(true);
  });

  it("was certainly not sent if its time was up while TLS was being established", async () => {
    const port = await serve(() => {});
    expect(failedToConnect(await fail(`https://127.0.0.1:${port}/`, AbortSignal.timeout(100)))).toBe(true);
  });

  it("was perhaps sent if the connection broke after it was written", async () => {
    const port = await serve((socket) => socket.once("data", () => socket.resetAndDestroy()));
    expect(failedToConnect(await fail(`http://127.0.0.1:${port}/`))).toBe(false);
  });

  it("was perhaps sent if its time was up while it waited for the response", async () => {
    const controller = new AbortController();
    const port = await serve((socket) => socket.once("data", () => controller.abort(new Error("too late"))));
    expect(failedToConnect(await fail(`http://127.0.0.1:${port}/`, controller.signal))).toBe(false);
  });
});

it("passes on the errors of other implementations of fetch", async () => {
  const error = new Error("made up");
  const other = trackRequests(() => Promise.reject(error));
  await expect(other("http://a.example/")).rejects.toBe(error);
  expect(failedToConnect(error)).toBe(false);
});
