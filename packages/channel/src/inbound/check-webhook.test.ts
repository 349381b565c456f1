import { describe, expect, it } from "vitest";
import { checkWebhook } from "../index.ts";

const challenge = { body: '{"challenge":"c1"}', headers: { "x-signed": "yes" }, challenge: "c1" };
const { signal } = new AbortController();

async function check(fetch: typeof globalThis.fetch, url = "https://gateway.example/e") {
  return checkWebhook({ platform: "Slack", url, challenge, fetch, signal });
}

describe("checkWebhook", () => {
  it("passes if this account answers the platform's challenge", async () => {
    const requests: RequestInit[] = [];
    const result = await check(async (_, init = {}) => {
      requests.push(init);
      return Response.json({ challenge: "c1" });
    });
    expect(result).toMatchObject({ about: "webhook", ok: true });
    expect(result.detail).toContain("shown only in its console");
    // The platforms do not follow redirects either.
    expect(requests).toMatchObject([{ method: "POST", redirect: "manual", headers: { "x-signed": "yes" } }]);
  });

  it.each([
    ["a proxy without a backend", new Response("bad gateway", { status: 502 }), "responds with HTTP 502"],
    ["a redirect", new Response(null, { status: 301 }), "responds with HTTP 301"],
    ["another account", Response.json({}, { status: 401 }), "rejects this account's secret"],
    ["an HTML page", new Response("<html>"), "not from this account"],
    ["the response of another service", Response.json({ challenge: "c2" }), "not from this account"],
  ])("fails for %s", async (_, response, words) => {
    const result = await check(async () => response);
    expect(result).toMatchObject({ ok: false, remedy: expect.stringContaining("proxy") });
    expect(result.detail).toContain(words);
  });

  it("fails for an unreachable address", async () => {
    const result = await check(() => Promise.reject(new Error("no route")));
    expect(result).toMatchObject({
      ok: false,
      detail: expect.stringContaining("cannot be reached: no route"),
    });
  });

  it("reports that nothing was checked without an address", async () => {
    const result = await checkWebhook({ platform: "Slack", challenge, fetch, signal });
    expect(result).toMatchObject({ ok: true, detail: expect.stringContaining("not checked") });
  });
});
