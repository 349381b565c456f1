import { describe, expect, it } from "vitest";
import { checkWebhook } from "../index.ts";

const challenge = { body: '{"challenge":"c1"}', headers: { "x-signed": "yes" }, challenge: "c1" };
const { signal } = new AbortController();

async function checked(fetch: typeof globalThis.fetch, url = "https://gateway.example/e") {
  return checkWebhook({ platform: "Slack", url, challenge, fetch, signal });
}

describe("the check of a webhook's address", () => {
  it("is good where this account answers the platform's own challenge", async () => {
    const asked: RequestInit[] = [];
    const check = await checked(async (_, init = {}) => {
      asked.push(init);
      return Response.json({ challenge: "c1" });
    });
    expect(check).toMatchObject({ about: "webhook", ok: true });
    expect(check.detail).toContain("only its console shows");
    // A platform follows no redirection either.
    expect(asked).toMatchObject([{ method: "POST", redirect: "manual", headers: { "x-signed": "yes" } }]);
  });

  it.each([
    ["a proxy that leads nowhere", new Response("bad gateway", { status: 502 }), "answers 502"],
    ["a redirection", new Response(null, { status: 301 }), "answers 301"],
    ["another account", Response.json({}, { status: 401 }), "does not take this account's secret"],
    ["a page", new Response("<html>"), "is answered by something else"],
    ["somebody else's answer", Response.json({ challenge: "c2" }), "is answered by something else"],
  ])("finds %s", async (_, response, words) => {
    const check = await checked(async () => response);
    expect(check).toMatchObject({ ok: false, remedy: expect.stringContaining("proxy") });
    expect(check.detail).toContain(words);
  });

  it("finds an address that cannot be reached", async () => {
    const check = await checked(() => Promise.reject(new Error("no route")));
    expect(check).toMatchObject({
      ok: false,
      detail: expect.stringContaining("cannot be reached: no route"),
    });
  });

  it("says that it cannot know without an address", async () => {
    const check = await checkWebhook({ platform: "Slack", challenge, fetch, signal });
    expect(check).toMatchObject({ ok: true, detail: expect.stringContaining("not checked") });
  });
});
