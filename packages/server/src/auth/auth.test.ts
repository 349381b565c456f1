import { describe, expect, it } from "vitest";
import { createAuth } from "./auth.ts";
import { hostsOf, sameOrigin } from "./origin.ts";
import type { Revocations } from "./sessions.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const HERE = "127.0.0.1";
const DAY_MS = 24 * 60 * 60 * 1000;

/** What a store keeps, also for the next process. */
function inMemory(): Revocations {
  const ids: string[] = [];
  return { list: async () => ids, add: async (id) => void ids.push(id) };
}

async function open({ token = TOKEN, revocations = inMemory() } = {}) {
  const clock = { ms: 1_000_000 };
  const auth = await createAuth({ token, revocations, now: () => clock.ms });
  return { auth, clock, revocations };
}

function cookieOf(setCookie: string | undefined): string {
  return setCookie?.split(";")[0] ?? "";
}

describe("createAuth", () => {
  it("lets the token in and nothing else", async () => {
    const { auth } = await open();
    expect(auth.check({ authorization: `Bearer ${TOKEN}` }, "a").kind).toBe("owner");
    for (const authorization of [
      undefined,
      "",
      "Bearer",
      `Basic ${TOKEN}`,
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(1)}`,
    ]) {
      expect(auth.check({ authorization }, "b").kind).toBe("refused");
    }
  });

  it("lets a secret in that nobody can guess, however many others try from there", async () => {
    const long = TOKEN.repeat(2);
    const { auth } = await open({ token: long });
    for (let guess = 0; guess < 50; guess += 1) auth.check({ authorization: `Bearer ${guess}` }, HERE);
    expect(auth.check({ authorization: "Bearer another" }, HERE).kind).toBe("throttled");
    expect(auth.check({ authorization: `Bearer ${long}` }, HERE).kind).toBe("owner");
  });

  it("keeps a browser signed in by an HttpOnly cookie that ends with the token or with time", async () => {
    const { auth, clock } = await open();
    const { cookie: setCookie } = auth.signIn(TOKEN, HERE);
    expect(setCookie).toMatch(/HttpOnly; SameSite=Strict; Path=\//);
    expect(setCookie).not.toContain(TOKEN);
    const cookie = cookieOf(setCookie);
    expect(auth.check({ cookie: `other=1; ${cookie}` }, HERE).kind).toBe("owner");
    const { auth: other } = await open({ token: `${TOKEN}2` });
    expect(other.check({ cookie }, HERE).kind).toBe("refused");
    for (const forged of [cookie.replace(/=./, "=~"), cookie.replace(/\.\d/, ".9"), cookie.slice(0, -1)])
      expect(auth.check({ cookie: forged }, HERE).kind).toBe("refused");
    clock.ms += 7 * DAY_MS;
    expect(auth.check({ cookie }, HERE).kind).toBe("refused");
  });

  it("prolongs a session that is used, at most once a day", async () => {
    const { auth, clock } = await open();
    const cookie = cookieOf(auth.signIn(TOKEN, HERE).cookie);
    const result = auth.check({ cookie }, HERE);
    if (result.kind !== "owner" || result.session === undefined) throw new Error("it is signed in");
    expect(auth.renew(result.session)).toBeUndefined();
    clock.ms += DAY_MS + 1;
    const renewed = cookieOf(auth.renew(result.session));
    clock.ms += 6 * DAY_MS;
    expect(auth.check({ cookie }, HERE).kind).toBe("refused");
    expect(auth.check({ cookie: renewed }, HERE)).toMatchObject({ session: { id: result.session.id } });
  });

  it("ends a session on the server: a copied cookie is worth nothing from then on, also after a restart", async () => {
    const { auth, revocations } = await open();
    const cookie = cookieOf(auth.signIn(TOKEN, HERE).cookie);
    const another = cookieOf(auth.signIn(TOKEN, HERE).cookie);
    const result = auth.check({ cookie }, HERE);
    const ended: string[] = [];
    auth.onSignOut((id) => ended.push(id));
    const session = result.kind === "owner" ? result.session : undefined;
    expect(await auth.signOut(session)).toMatch(/^signalbox_session=;.*Max-Age=0/);
    expect(ended).toEqual([session?.id]);
    const { auth: next } = await open({ revocations });
    for (const one of [auth, next]) {
      expect(one.check({ cookie }, HERE).kind).toBe("refused");
      expect(one.check({ cookie: another }, HERE).kind).toBe("owner");
    }
  });

  it("looks at ten wrong secrets a minute from one peer, and at no right one beyond", async () => {
    const { auth, clock } = await open();
    for (let guess = 0; guess < 10; guess++) expect(auth.signIn(`guess ${guess}`, HERE).kind).toBe("refused");
    expect(auth.signIn("guess 11", HERE)).toMatchObject({ kind: "throttled", retryAfterMs: 60_000 });
    // Else the wait would cost who guesses nothing.
    expect(auth.signIn(TOKEN, HERE).kind).toBe("throttled");
    expect(auth.checkSecret("Bearer short-secret", "short-secret", HERE).kind).toBe("throttled");
    expect(auth.signIn(TOKEN, "127.0.0.2").kind).toBe("owner");
    clock.ms += 60_001;
    expect(auth.signIn(TOKEN, HERE).kind).toBe("owner");
  });

  it("locks nobody out who has shown a right secret before, whoever guesses from the same address", async () => {
    const { auth } = await open();
    const cookie = cookieOf(auth.signIn(TOKEN, HERE).cookie);
    for (let guess = 0; guess < 12; guess++) auth.signIn(`guess ${guess}`, HERE);
    expect(auth.signIn("guess 13", HERE).kind).toBe("throttled");
    expect(auth.check({ authorization: `Bearer ${TOKEN}` }, HERE).kind).toBe("owner");
    expect(auth.check({ cookie }, HERE).kind).toBe("owner");
  });

  it("takes the addresses of one IPv6 network for one peer", async () => {
    const { auth } = await open();
    for (let guess = 0; guess < 10; guess++) auth.signIn("guess", `2001:db8::${guess + 1}`);
    expect(auth.signIn("guess", "2001:db8:0:0:ffff::1").kind).toBe("throttled");
    expect(auth.signIn("guess", "2001:db8:0:1::1").kind).toBe("refused");
    expect(auth.signIn("guess", "::ffff:192.0.2.1").kind).toBe("refused");
  });
});

describe("sameOrigin", () => {
  const hosts = hostsOf("127.0.0.1", ["Gateway.example"]);
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
    [{}, false],
  ])("%j is %s", (headers, expected) => {
    expect(sameOrigin(headers, hosts)).toBe(expected);
  });
});
