import type { AccessStore, AccessToken, KvStore } from "@signalbox/store/types";
import { describe, expect, it } from "vitest";
import { openAccess } from "../../test/open-access.ts";
import { createAuth } from "./auth.ts";
import { createHostSet, isFromOwnPage } from "./origin.ts";
import { hashToken } from "./secrets.ts";

const TOKEN = "Xk29fLq0Zv7TbW3s-own";
const HERE = { remote: "127.0.0.1", port: 4747 };
const HOUR_MS = 60 * 60_000;

interface BrowserSession {
  readonly cookie: string;
  readonly sessionKey?: string;
}

interface OpenOptions {
  readonly token?: string;
  readonly store?: AccessStore;
  readonly kv?: KvStore;
}

async function open({ token = TOKEN, store: given, kv: values }: OpenOptions = {}) {
  const opened = await openAccess();
  const store = given ?? opened.access;
  const kv = values ?? opened.kv;
  const clock = { ms: 1_000_000 };
  const auth = createAuth({ token, store, kv, now: () => clock.ms });
  const bearer = async (secret: string, remote = HERE.remote) =>
    (await auth.check({ ...HERE, authorization: `Bearer ${secret}`, remote })).kind;
  const signIn = async (secret = token, secure = false) => {
    const result = await auth.browsers.signIn(secret, { ...HERE, headers: {}, secure });
    if (result.kind !== "signed_in") throw new Error("sign-in failed");
    return result;
  };
  const trySignIn = async (secret: string) =>
    (await auth.browsers.signIn(secret, { ...HERE, headers: {}, secure: false })).kind;
  const bySession = ({ cookie, sessionKey }: BrowserSession, port = HERE.port) =>
    auth.check({ ...HERE, port, cookie: `other=1; ${cookie.split(";")[0]}`, sessionKey });
  return { auth, clock, store, kv, bearer, signIn, trySignIn, bySession };
}

const named = (secret: string, name: string, role: AccessToken["role"]) => ({
  name,
  role,
  hash: hashToken(secret),
  createdAt: 0,
});

describe("tokens", () => {
  it("accepts the gateway's own token", async () => {
    const { auth, bearer } = await open();
    expect(await bearer(TOKEN)).toBe("granted");
    for (const authorization of [undefined, "", "Bearer", `Basic ${TOKEN}`, `Bearer ${TOKEN}x`])
      expect((await auth.check({ ...HERE, authorization })).kind).toBe("refused");
  });

  it("accepts tokens and sessions even if their use cannot be recorded", async () => {
    const { access: store } = await openAccess();
    await store.tokens.add(named("secret-of-alice", "alice", "member"));
    const { bearer, bySession, clock, signIn } = await open({ store });
    const session = await signIn("secret-of-alice");
    const used = () => Promise.reject(new Error("the disk is full"));
    Object.assign(store.tokens, { used });
    Object.assign(store.sessions, { used });
    clock.ms += HOUR_MS;
    expect(await bearer("secret-of-alice")).toBe("granted");
    expect((await bySession(session)).kind).toBe("granted");
  });

  it("grants monitoring tokens access to metrics and to nothing else", async () => {
    const { auth, bearer, trySignIn, store } = await open();
    const secret = "sbt_monitor_0123456789abcdef0123456789";
    const member = "sbt_member_0123456789abcdef0123456789a";
    await store.tokens.add(named(secret, "prometheus", "monitor"));
    await store.tokens.add(named(member, "anna", "member"));
    await store.tokens.add(named("secret-of-a-viewer", "vera", "viewer"));
    const mayMonitor = (token: string) => auth.checkMonitoring({ ...HERE, authorization: `Bearer ${token}` });
    expect(await mayMonitor(secret)).toBe("granted");
    expect((await store.tokens.named("prometheus"))?.usedAt).toBe(1_000_000);
    expect(await bearer(secret)).toBe("refused");
    expect(await trySignIn(secret)).toBe("refused");
    const own = await auth.checkSecret({ ...HERE, authorization: `Bearer ${secret}` }, undefined);
    expect(own.kind).toBe("refused");
    expect(await mayMonitor(TOKEN)).toBe("granted");
    expect(await mayMonitor("secret-of-a-viewer")).toBe("granted");
    expect(await mayMonitor(member)).toBe("forbidden");
    expect(await mayMonitor(`${secret}x`)).toBe("refused");
    await store.tokens.revoke("prometheus");
    expect(await mayMonitor(secret)).toBe("refused");
  });

  it("accepts named tokens until they are revoked", async () => {
    const { auth, bearer, store } = await open();
    await store.tokens.add(named("secret of alice", "alice", "member"));
    await store.tokens.add(named("secret-of-bob", "bob", "owner"));
    expect(await auth.check({ ...HERE, authorization: "Bearer secret-of-bob" })).toMatchObject({
      access: { principal: { name: "bob", role: "owner" } },
    });
    expect(await bearer(hashToken("secret-of-bob"))).toBe("refused");
    expect((await store.tokens.list()).map(({ usedAt }) => usedAt)).toEqual([undefined, 1_000_000]);
    await store.tokens.revoke("bob");
    expect(await bearer("secret-of-bob")).toBe("refused");
  });

  it("requires an owner's token for a hook without a secret", async () => {
    const { auth, store } = await open();
    await store.tokens.add(named("secret-of-alice", "alice", "member"));
    await store.tokens.add(named("secret-of-bob", "bob", "owner"));
    const call = async (given: string, secret?: string) =>
      (await auth.checkSecret({ ...HERE, authorization: `Bearer ${given}` }, secret)).kind;
    expect(await call("secret-of-alice")).toBe("refused");
    expect(await call("secret-of-bob")).toBe("granted");
    expect(await call(TOKEN)).toBe("granted");
    expect(await call(TOKEN, "secret-of-the-hook")).toBe("refused");
    expect(await call("secret-of-the-hook", "secret-of-the-hook")).toBe("granted");
  });
});

describe("sessions", () => {
  it("use an HttpOnly cookie named after the port, with the prefix __Host- over HTTPS", async () => {
    const { signIn, bySession } = await open();
    const plain = await signIn();
    expect(plain.cookie).toMatch(
      /^signalbox-4747=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/; Max-Age=604800$/,
    );
    expect((await signIn(TOKEN, true)).cookie).toMatch(/^__Host-signalbox-4747=[\w-]{43}; Secure; HttpOnly;/);
    expect((await bySession(plain)).kind).toBe("granted");
    expect((await bySession(plain, 4748)).kind).toBe("refused");
    for (const cookie of [plain.cookie.replace(/=./, "=~"), plain.cookie.replace(/.;/, ";")])
      expect((await bySession({ ...plain, cookie })).kind).toBe("refused");
  });

  it("require the cookie and the key of the same session", async () => {
    const { signIn, bySession } = await open();
    const [first, second] = [await signIn(), await signIn()];
    const { cookie, sessionKey } = first;
    const [pair = ""] = cookie.split(";");
    const halves: BrowserSession[] = [
      { cookie },
      { cookie, sessionKey: "" },
      { cookie, sessionKey: pair.split("=")[1] ?? "" },
      { cookie: "", sessionKey },
      { cookie, sessionKey: second.sessionKey },
      { cookie: `${pair}.`, sessionKey },
      { cookie: `${pair}${sessionKey.slice(0, 1)}`, sessionKey: sessionKey.slice(1) },
    ];
    for (const half of halves) expect([half, (await bySession(half)).kind]).toEqual([half, "refused"]);
    expect((await bySession(first)).kind).toBe("granted");
    expect((await bySession(second)).kind).toBe("granted");
  });

  it("store no value that grants access", async () => {
    const { store, signIn, bySession } = await open();
    const opened: string[] = [];
    const open_ = store.sessions.open;
    store.sessions.open = async (session) => {
      opened.push(JSON.stringify(session));
      await open_(session);
    };
    const { cookie, sessionKey } = await signIn();
    expect(opened).toHaveLength(1);
    expect(opened[0]).not.toContain(TOKEN);
    expect(opened[0]).not.toContain(/=([^;]+)/.exec(cookie)?.[1]);
    expect(opened[0]).not.toContain(sessionKey);
    const { id } = JSON.parse(opened[0] ?? "{}");
    for (const key of [sessionKey, id, ""])
      expect((await bySession({ cookie: `signalbox-4747=${id}`, sessionKey: key })).kind).toBe("refused");
  });

  it("expire after twelve hours without use and after seven days in any case", async () => {
    const { clock, signIn, bySession } = await open();
    const idle = await signIn();
    const used = await signIn();
    for (let hours = 0; hours < 7 * 24 - 11; hours += 11) {
      expect([hours, (await bySession(used)).kind]).toEqual([hours, "granted"]);
      clock.ms += 11 * HOUR_MS;
    }
    expect((await bySession(idle)).kind).toBe("refused");
    clock.ms += 11 * HOUR_MS;
    expect((await bySession(used)).kind).toBe("refused");
  });

  it("are extended by messages on a socket, but not by an idle socket", async () => {
    const { auth, clock, signIn, bySession } = await open();
    const [idle, busy] = await Promise.all([bySession(await signIn()), bySession(await signIn())]);
    if (idle.kind !== "granted" || busy.kind !== "granted") throw new Error("sign-in failed");
    for (let hours = 0; hours < 13; hours++) {
      clock.ms += HOUR_MS;
      await auth.used(busy.access);
      await auth.isGood(idle.access);
    }
    expect(await auth.isGood(busy.access)).toBe(true);
    expect(await auth.isGood(idle.access)).toBe(false);
  });

  it("are invalid after signing out, including copies of both halves and after a restart", async () => {
    const { auth, store, signIn, bySession } = await open();
    const copied = await signIn();
    const another = await signIn();
    const result = await bySession(copied);
    const ended: string[] = [];
    auth.browsers.onSignOut((id) => ended.push(id));
    if (result.kind !== "granted") throw new Error("sign-in failed");
    expect((await auth.browsers.signOut(result.access, HERE)).cookies).toEqual([
      expect.stringMatching(/^__Host-signalbox-4747=;.*Max-Age=0$/),
      expect.stringMatching(/^signalbox-4747=;.*Max-Age=0$/),
    ]);
    expect(ended).toEqual([result.access.session?.id]);
    const next = await open({ store });
    for (const process of [{ bySession }, next]) {
      expect((await process.bySession(copied)).kind).toBe("refused");
      expect((await process.bySession(another)).kind).toBe("granted");
    }
  });

  it("end when the token that opened them is revoked", async () => {
    const { auth, store, signIn, bySession } = await open();
    await store.tokens.add(named("secret-of-alice", "alice", "member"));
    const alices = await signIn("secret-of-alice");
    const owners = await signIn();
    const result = await bySession(alices);
    if (result.kind !== "granted") throw new Error("sign-in failed");
    expect(result.access.principal).toEqual({ name: "alice", role: "member" });
    expect(await auth.isGood(result.access)).toBe(true);
    await store.tokens.revoke("alice");
    expect(await auth.isGood(result.access)).toBe(false);
    expect((await bySession(alices)).kind).toBe("refused");
    const changed = await open({ token: `${TOKEN}2`, store });
    expect((await changed.bySession(owners)).kind).toBe("refused");
  });
});

describe("sign-in links", () => {
  const issue = async ({ auth }: Awaited<ReturnType<typeof open>>, token = TOKEN) => {
    const result = await auth.check({ ...HERE, authorization: `Bearer ${token}` });
    if (result.kind !== "granted") throw new Error("authentication failed");
    return auth.issueLink(result.access);
  };

  it("sign in once with the permissions of their creator and are not tokens", async () => {
    const world = await open();
    await world.store.tokens.add(named("secret-of-bob", "bob", "owner"));
    const { secret } = await issue(world, "secret-of-bob");
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(await world.bearer(secret)).toBe("refused");
    expect(await world.bySession(await world.signIn(secret))).toMatchObject({
      access: { principal: { name: "bob" } },
    });
    expect(await world.trySignIn(secret)).toBe("refused");
  });

  it("expire after five minutes and when the token that created them is revoked", async () => {
    const world = await open();
    await world.store.tokens.add(named("secret-of-bob", "bob", "owner"));
    const bobs = await issue(world, "secret-of-bob");
    const [early, late] = [await issue(world), await issue(world)];
    world.clock.ms = early.expiresAt - 1;
    expect(early.expiresAt).toBe(1_000_000 + 5 * 60_000);
    expect(await world.trySignIn(early.secret)).toBe("signed_in");
    await world.store.tokens.revoke("bob");
    expect(await world.trySignIn(bobs.secret)).toBe("refused");
    world.clock.ms = late.expiresAt;
    expect(await world.trySignIn(late.secret)).toBe("refused");
  });

  it("are limited to the latest sixteen", async () => {
    const world = await open();
    const oldest = await issue(world);
    const rest = await Promise.all(Array.from({ length: 16 }, () => issue(world)));
    expect(await world.trySignIn(oldest.secret)).toBe("refused");
    for (const { secret } of rest) expect(await world.trySignIn(secret)).toBe("signed_in");
  });

  it("sign in once at any gateway that shares the store", async () => {
    const world = await open();
    const neighbor = await open({ store: world.store, kv: world.kv });
    const { secret } = await issue(world);
    const results = await Promise.all([world, neighbor].map(({ trySignIn }) => trySignIn(secret)));
    expect(results.sort()).toEqual(["refused", "signed_in"]);
  });

  it("share the throttle of tokens", async () => {
    const world = await open();
    const { secret } = await issue(world);
    const guess = () => world.trySignIn("x".repeat(43));
    for (let guesses = 0; guesses < 9; guesses++) expect(await guess()).toBe("refused");
    expect(await guess()).toBe("throttled");
    expect(await world.bearer("a-guess-at-a-token")).toBe("throttled");
    expect(await world.trySignIn(secret)).toBe("signed_in");
  });
});

describe("the throttle", () => {
  it("applies after ten wrong secrets of any kind within a minute", async () => {
    const { auth, bearer, clock } = await open();
    const hook = async (secret: string) =>
      (await auth.checkSecret({ ...HERE, authorization: `Bearer ${secret}` }, "Zv7TbW3sXk29fLq0")).kind;
    for (let guess = 0; guess < 5; guess++) {
      expect(await bearer(`guess-${guess}`)).toBe("refused");
      if (guess < 4) expect(await hook(`guess-${guess}`)).toBe("refused");
    }
    expect(await hook("the-tenth")).toBe("throttled");
    expect(await bearer("one-more")).toBe("throttled");
    expect(await bearer("one-more", "127.0.0.2")).toBe("refused");
    clock.ms += 60_001;
    expect(await bearer("one-more")).toBe("refused");
  });

  it("never delays long secrets or sessions", async () => {
    const { bearer, signIn, bySession } = await open({ token: TOKEN.repeat(2) });
    const session = await signIn();
    for (let guess = 0; guess < 500; guess++) await bearer(`guess-${guess}`);
    expect(await bearer("x".repeat(64))).toBe("throttled");
    expect(await bearer(TOKEN.repeat(2))).toBe("granted");
    expect((await bySession(session)).kind).toBe("granted");
  });
});

describe("isFromOwnPage", () => {
  const hosts = createHostSet("127.0.0.1", ["Gateway.example"]);
  it.each([
    [{ host: "127.0.0.1:4747" }, true],
    [{ host: "localhost:4747", origin: "http://localhost:4747" }, true],
    [{ host: "[::1]:4747" }, true],
    [{ host: "gateway.example" }, true],
    [{ host: "gateway.example", origin: "https://gateway.example" }, true],
    [{ host: "GATEWAY.example:443", origin: "https://gateway.example" }, true],
    [{ host: "gateway.example:4747", origin: "https://gateway.example" }, false],
    [{ host: "gateway.example", origin: "https://gateway.example.evil.example" }, false],
    [{ host: "gateway.example", origin: "https://evil.example" }, false],
    [{ host: "sub.gateway.example" }, false],
    [{ host: "192.0.2.1:4747", origin: "http://192.0.2.1:4747" }, true],
    [{ host: "[2001:db8::1]:4747" }, true],
    [{ host: "192.0.2.1.evil.example" }, false],
    [{ host: "192.0.2.1:4747", origin: "http://evil.example" }, false],
    [{ host: "evil.example:4747" }, false],
    [{ host: "127.0.0.1.evil.example" }, false],
    [{ host: "127.0.0.1:4747", origin: "http://evil.example" }, false],
    [{ host: "127.0.0.1:4747", origin: "http://127.0.0.1:9999" }, false],
    [{ host: "127.0.0.1:4747", origin: "null" }, false],
    [{ host: "127.0.0.1:4747", "sec-fetch-site": "same-origin" }, true],
    [{ host: "127.0.0.1:4747", "sec-fetch-site": "none" }, true],
    [{ host: "127.0.0.1:4747", "sec-fetch-site": "same-site" }, false],
    [{ host: "127.0.0.1:4747", "sec-fetch-site": "cross-site" }, false],
    [{ host: "127.0.0.1:4747", origin: "http://127.0.0.1:4747", "sec-fetch-site": "cross-site" }, false],
    [{}, false],
  ])("%j is %s", (headers, expected) => {
    expect(isFromOwnPage(headers, hosts)).toBe(expected);
  });
});
