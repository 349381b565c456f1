import { once } from "node:events";
import { networkInterfaces } from "node:os";
import { offeredProtocols, SESSION_KEY_HEADER } from "@signalbox/protocol";
import { beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { demoConfig, openWorld, type Started, TOKEN, type World } from "../support/harness.ts";
import { ask, bearer, json, upgrade } from "../support/raw-requests.ts";

let world: World;
let started: Started;

/** What a browser has once it is signed in, and how it shows it to `/api`. */
interface SignedInBrowser {
  readonly cookie: string;
  readonly attributes: readonly string[];
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function signIn(url = started.url): Promise<SignedInBrowser> {
  const { status, headers, text } = await ask(url, "/api/login", {
    method: "POST",
    headers: json,
    body: JSON.stringify({ token: TOKEN }),
  });
  expect(status).toBe(200);
  const [cookie = "", ...attributes] = (headers["set-cookie"]?.[0] ?? "").split("; ");
  const key: string = JSON.parse(text).sessionKey;
  return { cookie, attributes, key, headers: { cookie, [SESSION_KEY_HEADER]: key } };
}

describe("who may speak to the gateway", () => {
  beforeEach(async () => {
    world = await openWorld();
    world.configure(demoConfig());
    started = await world.start();
  });

  it("checks Host and Origin on every surface that a browser could be lured to", async () => {
    const { url } = started;
    const { host } = new URL(url);
    const browser = await signIn();
    const chat = {
      method: "POST",
      body: JSON.stringify({ model: "main", messages: [{ role: "user", content: "hello" }] }),
    };
    const surfaces: readonly (readonly [string, { method?: string; body?: string }, number])[] = [
      ["/api/me", {}, 200],
      ["/api/conversations", {}, 200],
      ["/api/login", { method: "POST", body: JSON.stringify({ token: TOKEN }) }, 200],
      ["/v1/models", {}, 200],
      ["/v1/chat/completions", chat, 200],
      ["/metrics", {}, 200],
    ];
    const good: readonly Readonly<Record<string, string>>[] = [{ host }, { host, origin: `http://${host}` }];
    const bad: readonly Readonly<Record<string, string>>[] = [
      { host: "evil.example" },
      { host: `evil.example:${new URL(url).port}` },
      { host: "127.0.0.1.evil.example" },
      { host, origin: "http://evil.example" },
      { host, origin: "https://127.0.0.1:1" },
      { host, origin: "null" },
      { host, origin: "" },
    ];
    const logout = { method: "POST", body: "{}" };
    for (const credential of [bearer, browser.headers]) {
      for (const headers of bad) {
        const sent = { ...logout, headers: { ...json, ...credential, ...headers } };
        expect((await ask(url, "/api/logout", sent)).status).toBe(403);
      }
      for (const [path, init, status] of surfaces) {
        for (const headers of good) {
          const answer = await ask(url, path, { ...init, headers: { ...json, ...credential, ...headers } });
          expect([path, headers, answer.status]).toEqual([path, headers, status]);
        }
        for (const headers of bad) {
          const answer = await ask(url, path, { ...init, headers: { ...json, ...credential, ...headers } });
          expect([path, headers, answer.status]).toEqual([path, headers, 403]);
          expect(answer.headers["set-cookie"]).toBeUndefined();
        }
      }
      for (const headers of good) expect(await upgrade(url, { ...credential, ...headers })).toBe("open");
      for (const headers of bad) expect(await upgrade(url, { ...credential, ...headers })).toBe(403);
    }
  });

  it("lets nobody in without the token, loopback or not", async () => {
    const { url } = started;
    for (const path of [
      "/api/me",
      "/api/agents",
      "/api/status",
      "/api/conversations",
      "/api/conversations/x/messages",
      "/api/trace/x",
      "/api/nothing",
      "/v1/models",
      "/v1/nothing",
      "/metrics",
    ]) {
      const strangers: readonly Readonly<Record<string, string>>[] = [
        {},
        { authorization: "Bearer a-guess-of-the-token" },
        { cookie: "signalbox-4747=99999999999999.abc" },
        { "x-forwarded-for": "127.0.0.1" },
        { authorization: `Basic ${Buffer.from(`x:${TOKEN}`).toString("base64")}` },
      ];
      for (const headers of strangers)
        expect([path, (await ask(url, path, { headers })).status]).toEqual([
          path,
          expect.toSatisfy((status) => status === 401 || status === 429),
        ]);
      expect((await ask(url, `${path}?token=${TOKEN}&access_token=${TOKEN}`)).status).toBe(401);
    }
    expect(await upgrade(url, {})).toBe(401);
    expect(await upgrade(url, { cookie: "signalbox-4747=99999999999999." })).toBe(401);
    // Health is for everybody and says nothing else.
    expect((await ask(url, "/healthz")).text).toBe('{"status":"ok"}');
    expect((await ask(url, "/readyz")).text).toBe('{"status":"ready"}');
  });

  it("throttles guesses, however they come and from loopback too", async () => {
    const { url } = started;
    const browser = await signIn();
    const statuses: number[] = [];
    for (let guess = 0; guess < 4; guess++) {
      const body = JSON.stringify({ token: `a guess ${guess}` });
      statuses.push((await ask(url, "/api/login", { method: "POST", headers: json, body })).status);
      statuses.push(
        (await ask(url, "/v1/models", { headers: { authorization: `Bearer guess-${guess}` } })).status,
      );
      statuses.push(
        Number(
          await upgrade(url, {
            authorization: `Bearer guess-${guess}`,
            "x-forwarded-for": `10.0.0.${guess}`,
          }),
        ),
      );
    }
    expect(statuses).toEqual([...Array(9).fill(401), 429, 429, 429]);
    const login = (token: string) =>
      ask(url, "/api/login", { method: "POST", headers: json, body: JSON.stringify({ token }) });
    const refused = await login("one more guess");
    expect(refused.status).toBe(429);
    expect(JSON.parse(refused.text)).toMatchObject({ error: { code: "throttled" } });
    expect((await ask(url, "/metrics", { headers: bearer })).text).toContain(
      'signalbox_refused_requests_total{door="ws",status="401"} 3',
    );
    // Who has the token, or is signed in, is not locked out by whoever guesses from the same address.
    expect((await login(TOKEN)).status).toBe(200);
    expect((await ask(url, "/v1/models", { headers: bearer })).status).toBe(200);
    expect((await ask(url, "/api/me", { headers: browser.headers })).status).toBe(200);
  });

  it("gives a browser a cookie that no script and no other site can use, and takes it back", async () => {
    const { url } = started;
    const { cookie, attributes, key, headers } = await signIn();
    expect(cookie + key).not.toContain(TOKEN);
    expect(attributes).toEqual(expect.arrayContaining(["HttpOnly", "SameSite=Strict", "Path=/"]));
    expect(attributes.some((one) => one.startsWith("Domain"))).toBe(false);
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, offeredProtocols(key), {
      headers: { cookie },
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await new Promise((resolve) => socket.once("open", resolve));
    const out = await ask(url, "/api/logout", {
      method: "POST",
      headers: { ...json, ...headers },
      body: "{}",
    });
    expect([out.status, out.headers["set-cookie"]?.[0]]).toEqual([
      200,
      expect.stringMatching(/^__Host-signalbox-\d+=;.*Max-Age=0/),
    ]);
    // A copy of both halves is worth nothing either, nor is what it has opened, and a restart changes none of that.
    expect(await closed).toBe(4401);
    expect((await ask(url, "/api/me", { headers })).status).toBe(401);
    await started.stop();
    started = await world.start();
    expect((await ask(started.url, "/api/me", { headers })).status).toBe(401);
  });

  it("refuses the cookie, which servers on other ports see, without what only its page has", async () => {
    const { url } = started;
    const { cookie, headers } = await signIn();
    const stranger = await signIn();
    const replays: readonly Readonly<Record<string, string>>[] = [
      { cookie },
      { cookie, [SESSION_KEY_HEADER]: stranger.key },
    ];
    for (const replay of replays) {
      for (const path of ["/api/me", "/api/conversations", "/api/status", "/v1/models", "/metrics"])
        expect([path, (await ask(url, path, { headers: replay })).status]).toEqual([path, 401]);
      const out = { method: "POST", headers: { ...json, ...replay }, body: "{}" };
      expect((await ask(url, "/api/logout", out)).status).toBe(401);
      expect(await upgrade(url, replay)).toBe(401);
    }
    // What everybody may have needs neither half, and the browser's own session goes on.
    expect((await ask(url, "/", { headers: { cookie } })).status).toBe(200);
    expect((await ask(url, "/api/me", { headers })).status).toBe(200);
    expect(await upgrade(url, headers)).toBe("open");
  });

  it("never says the key again: not as the subprotocol that it picks, nor in any answer", async () => {
    const { url } = started;
    const { cookie, key, headers } = await signIn();
    const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, offeredProtocols(key), {
      headers: { cookie },
    });
    const heard: string[] = [];
    socket.on("upgrade", (response) => heard.push(JSON.stringify(response.headers)));
    const [ready] = await once(socket, "message");
    expect(socket.protocol).toBe("signalbox");
    socket.terminate();
    const me = await ask(url, "/api/me", { headers });
    heard.push(String(ready), JSON.stringify(me.headers), me.text);
    expect(heard.join("\n")).not.toContain(key);
  });

  it("stops within moments though a viewer answers nothing", async () => {
    const socket = new WebSocket(`${started.url.replace("http", "ws")}/ws`, { headers: bearer });
    await new Promise((resolve) => socket.once("open", resolve));
    socket.pause();
    await started.stop();
    socket.terminate();
  });

  it("takes JSON only, so that no form of another site can post", async () => {
    const { url } = started;
    for (const type of [
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "",
    ]) {
      const headers = { ...bearer, ...(type === "" ? {} : { "content-type": type }) };
      for (const path of ["/api/login", "/api/logout", "/v1/chat/completions"])
        expect([path, type, (await ask(url, path, { method: "POST", headers, body: "{}" })).status]).toEqual([
          path,
          type,
          415,
        ]);
    }
    expect((await ask(url, "/api/login", { method: "POST", headers: json, body: "{" })).status).toBe(400);
    expect(
      (await ask(url, "/api/login", { method: "POST", headers: json, body: '{"token":3}' })).status,
    ).toBe(400);
    expect(
      (await ask(url, "/api/login", { method: "POST", headers: json, body: "x".repeat(1_000_001) })).status,
    ).toBe(413);
  });

  it("survives whatever is written to its socket", async () => {
    const { cookie, key } = await signIn();
    const address = `${started.url.replace("http", "ws")}/ws`;
    const socket = new WebSocket(address, offeredProtocols(key), { headers: { cookie } });
    const frames: string[] = [];
    socket.on("message", (data) => frames.push(data.toString()));
    await new Promise((resolve) => socket.once("open", resolve));
    const nonsense = [
      "",
      "{",
      "null",
      "[]",
      "3",
      '{"type":"nothing"}',
      '{"type":"__proto__"}',
      '{"type":"send"}',
      '{"type":"send","id":"a","agent":"nobody","conversation":"c","text":"x"}',
      '{"type":"send","id":"../../..","agent":"main","conversation":"c","text":"x"}',
      '{"type":"subscribe","conversation":"\\u0000"}',
      '{"type":"abort","conversation":"never"}',
      '{"type":"subscribe","conversation":"c","agent":"nobody"}',
    ];
    for (const one of nonsense) socket.send(one);
    socket.send(Buffer.from([1, 2, 3]));
    socket.send('{"type":"ping"}');
    // What the store is asked for first may be refused after the pong.
    await expect.poll(() => frames).toContain('{"type":"pong"}');
    const errors = () => frames.filter((frame) => frame.includes('"error"')).length;
    await expect.poll(errors).toBe(nonsense.length - 1);
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.send("x".repeat(1_000_001));
    expect(await closed).toBe(1009);
    expect((await ask(started.url, "/api/me", { headers: bearer })).status).toBe(200);
  });
});

describe("a gateway that others can reach", () => {
  it("answers under the names that are configured for a proxy, to pages of that name alone", async () => {
    world = await openWorld();
    const gateway = { port: 0, auth: { token: TOKEN }, allowedHosts: ["Signalbox.example"] };
    world.configure(demoConfig({ gateway }));
    started = await world.start();
    const { url } = started;
    const host = "signalbox.example";
    const origin = `https://${host}`;
    expect((await ask(url, "/api/me", { headers: { ...bearer, host } })).status).toBe(200);
    const body = JSON.stringify({ token: TOKEN });
    const login = (from: string) =>
      ask(url, "/api/login", { method: "POST", headers: { ...json, host, origin: from }, body });
    expect((await login(origin)).status).toBe(200);
    expect((await login("https://evil.example")).status).toBe(403);
    expect(await upgrade(url, { ...bearer, host, origin })).toBe("open");
    expect(await upgrade(url, { ...bearer, host, origin: "https://evil.example" })).toBe(403);
    expect(await upgrade(url, { ...bearer, host: "other.example" })).toBe(403);
  });

  it("answers under its addresses, and under no name that it does not know", async () => {
    world = await openWorld();
    world.configure(demoConfig({ gateway: { host: "0.0.0.0", port: 0, auth: { token: TOKEN } } }));
    started = await world.start();
    const { port } = new URL(started.url);
    const addresses = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .filter(({ family }) => family === "IPv4")
      .map(({ address }) => address);
    for (const address of addresses) {
      const url = `http://${address}:${port}`;
      expect([address, (await ask(url, "/api/me", { headers: bearer })).status]).toEqual([address, 200]);
      expect([
        address,
        (await ask(url, "/api/me", { headers: { ...bearer, host: `rebound.example:${port}` } })).status,
      ]).toEqual([address, 403]);
      const { headers } = await signIn(url);
      expect(await upgrade(url, { ...headers, origin: url })).toBe("open");
      expect(await upgrade(url, { ...headers, origin: "http://evil.example" })).toBe(403);
    }
  });
});
