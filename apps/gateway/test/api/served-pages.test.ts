import { beforeEach, describe, expect, it } from "vitest";
import { demoConfig, openWorld, type Started, type World } from "../support/harness.ts";
import { ask, bearer, json } from "../support/raw-requests.ts";

let world: World;
let started: Started;

beforeEach(async () => {
  world = await openWorld();
  world.configure(demoConfig());
  started = await world.start();
});

describe("static files", () => {
  it("serves the page with a policy that allows its own files and nothing else", async () => {
    const { url } = started;
    const page = await ask(url, "/");
    expect(page.status).toBe(200);
    const policy = String(page.headers["content-security-policy"]);
    expect(policy).toMatch(/default-src 'self'/);
    expect(policy).toMatch(/connect-src 'self'/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect(page.headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "referrer-policy": "no-referrer",
      "cache-control": "no-cache",
    });
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? "";
    expect((await ask(url, script)).headers).toMatchObject({
      "content-type": "text/javascript; charset=utf-8",
      "x-content-type-options": "nosniff",
      "cache-control": expect.stringContaining("immutable"),
    });
    expect(page.headers["access-control-allow-origin"]).toBeUndefined();
    expect(
      (await ask(url, "/api/me", { method: "OPTIONS", headers: { origin: "http://evil.example" } })).headers[
        "access-control-allow-origin"
      ],
    ).toBeUndefined();
  });

  it("serves only the page's files, whatever the path", async () => {
    const { url } = started;
    const up = "../../".repeat(12);
    const paths = [
      `/${up}etc/passwd`,
      `/${encodeURIComponent(up)}etc/passwd`,
      `/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd`,
      `/..%2f..%2f..%2f..%2fetc%2fpasswd`,
      `/assets/${up}etc/passwd`,
      `/assets/..%5c..%5c..%5cetc%5cpasswd`,
      "//etc/passwd",
      "/etc/passwd",
      `${world.home.tokenFile}`,
      `/${up}${world.home.configFile}`,
      "/index.html%00.png",
      "/assets/",
      "/%",
      "/%ff%fe",
      "/channels/feishu/..%2f..%2fmain/events",
      "/channels/__proto__/constructor/x",
      "/channels/feishu/%00/events",
      "/api/conversations/..%2f..%2f..%2fetc%2fpasswd/messages",
      "/api/trace/__proto__",
    ];
    for (const path of paths) {
      const { status, text } = await ask(url, path, { headers: bearer });
      expect([path, status]).toEqual([path, expect.toSatisfy((one) => one === 404 || one === 400)]);
      expect(text).not.toMatch(/root:|gateway:/);
    }
    expect((await ask(url, "/api/me", { headers: bearer })).status).toBe(200);
  });

  it("keeps a connection usable after a rejected request", async () => {
    const { url } = started;
    for (let round = 0; round < 5; round++) {
      const big = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { ...json, ...bearer },
        body: "x".repeat(10_000_001 + round * 50_000),
      });
      expect([big.status, await big.text()]).toEqual([413, expect.stringContaining("10 MB")]);
      const stranger = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: json,
        body: "x".repeat(900_000),
      });
      expect([stranger.status, await stranger.text()]).toEqual([401, expect.stringContaining("token")]);
      const next = await fetch(`${url}/v1/models`, { headers: bearer });
      expect([next.status, (await next.text()).length > 0]).toEqual([200, true]);
    }
  });
});
