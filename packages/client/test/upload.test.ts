import { expect, it } from "vitest";
import { createClient } from "../src/index.ts";

const PIECE = 500_000;

/** A gateway that keeps what comes; `fate` says of each request whether it, or its answer, is lost on the way. */
function clientOf(fate: (request: number) => "arrives" | "request lost" | "answer lost") {
  let kept = new Uint8Array();
  let requests = 0;
  const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    requests += 1;
    init?.signal?.throwIfAborted();
    const becomes = fate(requests);
    if (becomes === "request lost") throw new TypeError("fetch failed");
    const at = Number(new URL(String(url)).searchParams.get("at"));
    const piece = new Uint8Array(await new Response(init?.body ?? null).arrayBuffer());
    const follows = at === kept.length;
    if (follows) kept = Uint8Array.from([...kept, ...piece]);
    if (becomes === "answer lost") throw new TypeError("fetch failed");
    return Response.json({ bytes: kept.length }, { status: follows ? 200 : 409 });
  };
  const client = createClient({ baseUrl: "http://127.0.0.1:9", token: "t", fetch });
  return { client, kept: () => kept, requests: () => requests };
}

it("goes on with a file of which a piece, or the answer to it, was lost", async () => {
  const fates = ["arrives", "request lost", "answer lost", "arrives", "request lost", "arrives"] as const;
  const { client, kept } = clientOf((request) => fates[request - 1] ?? "arrives");
  const bytes = Uint8Array.from({ length: 2 * PIECE + 1 }, (_, index) => index % 251);
  const shares: number[] = [];
  const sent = await client.upload(new Blob([bytes]), {
    backoffMs: () => 0,
    onProgress: (share) => shares.push(share),
  });
  expect(sent.bytes).toBe(bytes.length);
  expect(Buffer.compare(kept(), bytes)).toBe(0);
  expect(shares.at(-1)).toBe(1);
});

it("gives up where nothing comes through, and at once where it is aborted", async () => {
  const { client, requests } = clientOf(() => "request lost");
  const lost = client.upload(new Blob(["x"]), { retries: 2, backoffMs: () => 0 });
  await expect(lost).rejects.toMatchObject({ code: "network" });
  expect(requests()).toBe(3);
  const stop = new AbortController();
  stop.abort();
  await expect(client.upload(new Blob(["x"]), { signal: stop.signal })).rejects.toBeDefined();
  expect(requests()).toBe(4);
});
