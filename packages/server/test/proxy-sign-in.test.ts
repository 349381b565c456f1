import { createTestBrowser, type TestBrowser } from "@signalbox/testkit/oidc";
import { describe, expect, it } from "vitest";
import type { AuthOptions } from "../src/index.ts";
import { openServer } from "./harness.ts";
import { createMemoryService } from "./memory-service.ts";
import { ROLES, whoIs } from "./oidc-harness.ts";

type Settings = ReturnType<NonNullable<AuthOptions["settings"]>>;
type Proxy = NonNullable<Settings["proxy"]>;

const ALICE = { "x-forwarded-user": "alice", "x-forwarded-groups": "staff, admins" };

async function openProxied(change: Partial<Proxy> = {}) {
  const proxy: Proxy = { addresses: ["127.0.0.1"], type: "oauth2-proxy", ...change };
  const live: { settings: Settings } = { settings: { tokenSignIn: true, roles: ROLES, proxy } };
  const server = await openServer(createMemoryService(), { settings: () => live.settings });
  const browser = createTestBrowser(server.url);
  return { ...server, live, browser };
}

async function signIn(browser: TestBrowser, headers: Readonly<Record<string, string>>): Promise<number> {
  const response = await browser.request("/api/login/proxy", { body: {}, headers });
  if (response.ok) browser.sessionKey = ((await response.json()) as { sessionKey: string }).sessionKey;
  return response.status;
}

const asUser = async (browser: TestBrowser, headers: Readonly<Record<string, string>>): Promise<unknown> => {
  const response = await browser.request("/api/me", { headers });
  return response.ok ? ((await response.json()) as { user: { role: string } }).user.role : response.status;
};

describe("the sign-in through a trusted proxy", () => {
  it("opens a session for the user in the headers", async () => {
    const { browser } = await openProxied();
    expect(await (await browser.request("/api/sign-in-methods", { headers: ALICE })).json()).toMatchObject({
      proxy: true,
    });
    expect(await signIn(browser, ALICE)).toBe(200);
    expect(await asUser(browser, ALICE)).toBe("owner");
  });

  it("reads the headers of Authelia and headers with other names", async () => {
    const authelia = await openProxied({ type: "authelia" });
    const headers = { "remote-user": "alice", "remote-groups": "ops" };
    expect(await signIn(authelia.browser, headers)).toBe(200);
    expect(await asUser(authelia.browser, headers)).toBe("operator");
    const named = await openProxied({ userHeader: "X-Who", groupsHeader: "X-Teams" });
    expect(await signIn(named.browser, { "x-who": "alice", "x-teams": "audit" })).toBe(200);
  });

  it("ignores the headers from every other address", async () => {
    for (const addresses of [["127.0.0.2"], ["10.0.0.0/8"], ["::1"], ["fd00::/8"]]) {
      const { browser } = await openProxied({ addresses });
      expect(await signIn(browser, ALICE)).toBe(401);
      const methods = await browser.request("/api/sign-in-methods", { headers: ALICE });
      expect(await methods.json()).toMatchObject({ proxy: false });
    }
    const { browser } = await openProxied({ addresses: ["127.0.0.0/8"] });
    expect(await signIn(browser, ALICE)).toBe(200);
  });

  it("does not take an address from a header", async () => {
    const { browser } = await openProxied({ addresses: ["10.0.0.1"] });
    const claims = { "x-forwarded-for": "10.0.0.1", "x-real-ip": "10.0.0.1", forwarded: "for=10.0.0.1" };
    expect(await signIn(browser, { ...ALICE, ...claims })).toBe(401);
  });

  it("requires the secret of the proxy if there is one", async () => {
    const { browser } = await openProxied({ secret: "a-secret-of-the-proxy" });
    expect(await signIn(browser, ALICE)).toBe(401);
    expect(await signIn(browser, { ...ALICE, "signalbox-proxy-secret": "a-guess" })).toBe(401);
    const sent = { ...ALICE, "signalbox-proxy-secret": "a-secret-of-the-proxy" };
    expect(await signIn(browser, sent)).toBe(200);
    expect(await asUser(browser, ALICE)).toBe(401);
    expect(await asUser(browser, sent)).toBe("owner");
  });

  it("ends with the headers, follows their groups, and does not pass to another user", async () => {
    const { browser, access } = await openProxied();
    await signIn(browser, ALICE);
    expect(await whoIs(browser)).toBe(401);
    expect(await asUser(browser, { ...ALICE, "x-forwarded-user": "mallory" })).toBe(401);
    expect(await asUser(browser, { ...ALICE, "x-forwarded-groups": "audit" })).toBe("viewer");
    expect(await asUser(browser, { ...ALICE, "x-forwarded-groups": "guests" })).toBe(401);
    expect(await access.tokens.list()).toEqual([]);
  });

  it("never replaces the session: headers alone open nothing", async () => {
    const { browser } = await openProxied();
    expect(await asUser(browser, ALICE)).toBe(401);
  });

  it("refuses users without a role, and a request of another site", async () => {
    const { browser } = await openProxied();
    const guest = { ...ALICE, "x-forwarded-groups": "guests" };
    expect(await signIn(browser, guest)).toBe(403);
    expect(await signIn(browser, { ...ALICE, origin: "https://evil.example.org" })).toBe(403);
    expect(await signIn(browser, { ...ALICE, "content-type": "text/plain" })).toBe(415);
  });

  it("refuses repeated headers, which a proxy that does not replace them would send", async () => {
    const { url } = await openProxied();
    const { request } = await import("node:http");
    const status = await new Promise((resolve, reject) => {
      const headers = [
        ...["content-type", "application/json", "origin", url, "content-length", "2"],
        ...["X-Forwarded-User", "mallory", "X-Forwarded-Groups", "admins"],
        ...["X-Forwarded-User", "alice", "X-Forwarded-Groups", "staff"],
      ];
      const sent = request(`${url}/api/login/proxy`, {
        method: "POST",
        headers: ["host", new URL(url).host, ...headers],
      });
      sent.on("error", reject).on("response", (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.end("{}");
    });
    expect(status).toBe(401);
  });

  it("does not permit sensitive changes, because a proxy does not report when the user signed in", async () => {
    const { browser } = await openProxied();
    await signIn(browser, ALICE);
    const response = await browser.request("/api/tokens", {
      body: { name: "ci", role: "member" },
      headers: ALICE,
    });
    expect(await response.json()).toMatchObject({ error: { code: "sign_in_again" } });
  });

  it("ends at the proxy's own page", async () => {
    const { browser } = await openProxied({ signOutUrl: "https://login.example.org/oauth2/sign_out" });
    await signIn(browser, ALICE);
    const response = await browser.request("/api/logout", { body: {}, headers: ALICE });
    expect(await response.json()).toEqual({ url: "https://login.example.org/oauth2/sign_out" });
  });
});
