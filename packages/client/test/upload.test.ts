import { expect, it } from "vitest";
import { createClient } from "../src/index.ts";

const PIECE = 500_000;

/** Creates a client of a fake gateway. `fate` decides for each request whether it or its response is lost. */
function createLossyClient(fate: (request: number) => "arrives" | "request lost" | "response lost") {
  let received = new Uint8Array();
  let requests = 0;
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    requests += 1;
    init?.signal?.throwIfAborted();
    const result = fate(requests);
    if (result === "request lost") throw new TypeError("fetch failed");
    const at = Number(new URL(String(url)).searchParams.get("at"));
    const piece = new Uint8Array(await new Response(init?.body ?? null).arrayBuffer());
    const isNext = at === received.length;
    if (isNext) received = Uint8Array.from([...received, ...piece]);
    if (result === "response lost") throw new TypeError("fetch failed");
    return Response.json({ bytes: received.length }, { status: isNext ? 200 : 409 });
  };
  const client = createClient({ baseUrl: "http://127.0.0.1:9", token: "t", fetch });
  return { client, received: () => received, requests: () => requests };
}

it("retries a piece whose request or response was lost", async () => {
  const fates = ["arrives", "request lost", "response lost", "arrives", "request lost", "arrives"] as const;
  const { client, received } = createLossyClient((request) => fates[request - 1] ?? "arrives");
  const bytes = Uint8Array.from({ length: 2 * PIECE + 1 }, (_, index) => index % 251);
  const shares: number[] = [];
  const sent = await client.upload(new Blob([bytes]), {
    backoffMs: () => 0,
    onProgress: (share) => shares.push(share),
  });
  expect(sent.bytes).toBe(bytes.length);
  expect(Buffer.compare(received(), bytes)).toBe(0);
  expect(shares.at(-1)).toBe(1);
});

it("gives up after the configured retries, and immediately if it is aborted", async () => {
  const { client, requests } = createLossyClient(() => "request lost");
  const lost = client.upload(new Blob(["x"]), { retries: 2, backoffMs: () => 0 });
  await expect(lost).rejects.toMatchObject({ code: "network" });
  expect(requests()).toBe(3);
  const stop = new AbortController();
  stop.abort();
  await expect(client.upload(new Blob(["x"]), { signal: stop.signal })).rejects.toBeDefined();
  expect(requests()).toBe(4);
});
