import { describe, expect, it } from "vitest";
import { openServer, TOKEN } from "./harness.ts";
import { createMemoryService } from "./memory-service.ts";

const bearer = { authorization: `Bearer ${TOKEN}` };
const json = { "content-type": "application/json" };

describe("the HTTP API", () => {
  it("says how it is to everybody, and anything else to the owner alone", async () => {
    const { url } = await openServer(createMemoryService());
    expect(await (await fetch(`${url}/healthz`)).json()).toEqual({ status: "ok" });
    expect(await (await fetch(`${url}/readyz`)).json()).toEqual({ status: "ready" });
    for (const path of ["/metrics", "/api/me", "/v1/models"]) {
      expect([path, (await fetch(url + path)).status]).toEqual([path, 401]);
      expect([path, (await fetch(url + path, { headers: bearer })).status]).toEqual([path, 200]);
    }
    expect(await (await fetch(`${url}/metrics`, { headers: bearer })).text()).toBe("up 1\n");
  });

  it("lets no cache on the way keep what is the owner's", async () => {
    const { url } = await openServer(createMemoryService());
    for (const headers of [bearer, {}])
      expect((await fetch(`${url}/api/me`, { headers })).headers.get("cache-control")).toBe("no-store");
  });

  it("says which agent answers where none is named", async () => {
    const { url } = await openServer(createMemoryService());
    const agents = await (await fetch(`${url}/api/agents`, { headers: bearer })).json();
    expect(agents).toMatchObject([{ id: "first" }, { id: "second", default: true }]);
  });

  it("hands what a program calls a hook with to the agent, as somebody else's words", async () => {
    const service = createMemoryService();
    const { url } = await openServer(service);
    const call = (headers: Record<string, string>) =>
      fetch(`${url}/hooks/build`, {
        method: "POST",
        headers: { ...json, ...headers },
        body: '{"state":"failed"}',
      });
    expect((await call(bearer)).status).toBe(401);
    const answer = await call({ authorization: "Bearer the-secret-of-the-hook", "idempotency-key": "1" });
    expect([answer.status, await answer.json()]).toEqual([
      202,
      { status: "accepted", messageId: "hook:build:1" },
    ]);
    expect(service.submissions).toMatchObject([
      { channel: "web", agent: "second", text: "The build failed", from: "hook build" },
    ]);
  });

  it("slows down who guesses the secret of a hook", async () => {
    const { url } = await openServer(createMemoryService());
    const guess = (secret: string) =>
      fetch(`${url}/hooks/build`, {
        method: "POST",
        headers: { ...json, authorization: `Bearer ${secret}` },
        body: "{}",
      });
    for (let wrong = 0; wrong < 10; wrong++) expect((await guess(`guess-${wrong}`)).status).toBe(401);
    expect((await guess("the-secret-of-the-hook")).status).toBe(429);
  });
});
