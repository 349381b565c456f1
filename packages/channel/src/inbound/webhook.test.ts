import { describe, expect, it } from "vitest";
import { checkWebhook, createWebhook } from "../index.ts";

const logger = { debug() {}, info() {}, warn() {}, error() {} };

function open(challenge?: (url: URL) => string | undefined) {
  return createWebhook<object>({
    maxBytes: 100,
    logger,
    verify: () => ({ kind: "event", event: {} }),
    handle: async () => "accepted",
    ...(challenge && { challenge }),
  });
}

const withToken = open((url) =>
  url.searchParams.get("hub.verify_token") === "t0ken"
    ? (url.searchParams.get("hub.challenge") ?? "")
    : undefined,
);

describe("createWebhook", () => {
  it("answers a GET challenge with its text, which a browser does not run", async () => {
    const script = encodeURIComponent("<script>alert(1)</script>");
    const response = await withToken(
      new Request(`https://gateway.example/e?hub.verify_token=t0ken&hub.challenge=${script}`),
    );
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("<script>alert(1)</script>");
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });

  it("rejects a GET challenge with another token, and every GET request without a challenge", async () => {
    const request = (query: string) => new Request(`https://gateway.example/e?${query}`);
    expect((await withToken(request("hub.verify_token=guess&hub.challenge=1"))).status).toBe(403);
    expect((await withToken(request(""))).status).toBe(403);
    expect((await open()(request("hub.verify_token=t0ken"))).status).toBe(405);
  });

  it("verifies a request with a signature in its URL", async () => {
    const webhook = createWebhook<object>({
      maxBytes: 100,
      logger,
      verify: (_body, _headers, url) =>
        url.searchParams.get("signature") === "s1"
          ? { kind: "event", event: {} }
          : { kind: "forged", reason: "wrong signature" },
      handle: async () => "accepted",
    });
    const post = async (signature: string) => {
      const url = `https://gateway.example/e?signature=${signature}`;
      return (await webhook(new Request(url, { method: "POST", body: "{}" }))).status;
    };
    expect(await post("s1")).toBe(200);
    expect(await post("s2")).toBe(401);
  });

  it("passes the check of a GET challenge, and fails it with another token", async () => {
    const check = (token: string) =>
      checkWebhook({
        platform: "Mine",
        url: "https://gateway.example/e",
        challenge: { query: { "hub.verify_token": token, "hub.challenge": "c 1" }, challenge: "c 1" },
        fetch: async (input) => withToken(new Request(input)),
        signal: new AbortController().signal,
      });
    expect(await check("t0ken")).toMatchObject({ ok: true });
    expect(await check("guess")).toMatchObject({
      ok: false,
      detail: expect.stringContaining("another account"),
    });
  });
});
