import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { push, textMessage } from "@signalbox/testkit/feishu";
import { beforeEach, describe, expect, it } from "vitest";
import {
  APP,
  exampleConfig,
  feishuAccount,
  openWorld,
  type Started,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";

const json = { "content-type": "application/json" };
const bearer = { authorization: `Bearer ${TOKEN}` };
const HOOK = "Zv7TbW3sXk29fLq0-of-a-hook";
/** The app of a neighbour's account. */
const OTHER = {
  encryptKey: "encryption-of-the-other-app",
  verificationToken: "verification-of-the-other-app",
};

let world: World;
let started: Started;

beforeEach(async () => {
  world = await openWorld();
  world.configure(
    exampleConfig({
      hooks: { build: { secret: HOOK, text: "The build {{state}}" } },
      channels: {
        feishu: {
          accounts: { main: feishuAccount(), other: feishuAccount({ ...OTHER, appId: "cli_other" }) },
        },
      },
    }),
  );
  world.script(() => ({ text: "fine" }));
  started = await world.start();
});

/** Writes to the socket as it is; resolves with what came back once the other side has closed. */
function raw(text: string, after?: (write: (more: string) => void) => void): Promise<string> {
  const { hostname, port } = new URL(started.url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname);
    socket.setEncoding("utf8").on("data", (part: string) => {
      answer += part;
    });
    socket.on("close", () => resolve(answer));
    // That it is cut off in mid-sentence is what some of this is about.
    socket.on("error", () => {});
    socket.write(text);
    after?.((more) => void (socket.writable && socket.write(more)));
  });
}

const statusOf = (answer: string): string => /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? "closed";

describe("a page of another site, or of another port", () => {
  it("gets through no door, whatever it says of itself", async () => {
    const { host, port } = new URL(started.url);
    const hosts = [
      host,
      `localhost:${port}`,
      "rebound.example",
      `rebound.example:${port}`,
      `127.0.0.1.evil.example`,
    ];
    const origins = [undefined, `http://${host}`, "http://127.0.0.1:9999", "https://evil.example", "null"];
    const sites = [undefined, "same-origin", "none", "same-site", "cross-site"];
    const doors: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
      ["GET", "/api/me", bearer],
      ["POST", "/api/login", {}],
      ["GET", "/v1/models", bearer],
      ["GET", "/metrics", bearer],
      ["POST", "/hooks/build", { authorization: `Bearer ${HOOK}` }],
      ["GET", "/ws", { ...bearer, connection: "upgrade", upgrade: "websocket" }],
    ];
    let tried = 0;
    for (const [method, path, credentials] of doors) {
      for (const named of hosts) {
        for (const origin of origins) {
          for (const site of sites) {
            const body = method === "POST" ? `{"token":"${TOKEN}","state":"broke"}` : "";
            const headers = {
              connection: "close",
              ...credentials,
              ...json,
              host: named,
              ...(path === "/ws"
                ? { "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" }
                : {}),
              ...(origin === undefined ? {} : { origin }),
              ...(site === undefined ? {} : { "sec-fetch-site": site }),
              "content-length": String(Buffer.byteLength(body)),
            };
            const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
            const isOurs = [host, `localhost:${port}`].includes(named);
            const isOwnOrigin = origin === undefined || origin === `http://${named}`;
            const isOwnSite = site === undefined || site === "same-origin" || site === "none";
            const mayPass = isOurs && isOwnOrigin && isOwnSite;
            // One that is let in stays open.
            if (path === "/ws" && mayPass) continue;
            const answer = await raw(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`);
            tried += 1;
            const let_in = ["200", "202", "204"].includes(statusOf(answer));
            expect([path, named, origin, site, let_in]).toEqual([path, named, origin, site, mayPass]);
            if (!mayPass) expect(answer).not.toMatch(/set-cookie/i);
          }
        }
      }
    }
    expect(tried).toBeGreaterThan(700);
  });

  it("cannot frame the console", async () => {
    for (const path of ["/", "/index.html"]) {
      const { headers } = await fetch(started.url + path);
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    }
  });
});

describe("a body", () => {
  it("is refused beyond its size, whatever length it states, before all of it is read", async () => {
    const big = "x".repeat(1_200_000);
    for (const path of ["/api/login", "/hooks/build", "/channels/feishu/main/events"]) {
      const head = `POST ${path} HTTP/1.1\r\nhost: ${new URL(started.url).host}\r\ncontent-type: application/json\r\n`;
      const credentials = path === "/hooks/build" ? `authorization: Bearer ${HOOK}\r\n` : "";
      const stated = `${head}${credentials}connection: close\r\ncontent-length: ${big.length}\r\n\r\n${big}`;
      expect([path, statusOf(await raw(stated))]).toEqual([path, "413"]);
      const chunk = `${big.length.toString(16)}\r\n${big}\r\n0\r\n\r\n`;
      const chunked = `${head}${credentials}connection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`;
      expect([path, statusOf(await raw(chunked))]).toEqual([path, "413"]);
    }
  });

  it("is not unpacked, so that a small one stays small", async () => {
    const bomb = gzipSync(Buffer.from(`{"token":"${TOKEN}${" ".repeat(50_000_000)}"}`));
    for (const [path, headers] of [
      ["/api/login", json],
      ["/v1/chat/completions", { ...json, ...bearer }],
      ["/channels/feishu/main/events", json],
    ] as const) {
      const init = { method: "POST", headers: { ...headers, "content-encoding": "gzip" }, body: bomb };
      const { status } = await fetch(started.url + path, init);
      expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => code >= 400 && code < 500)]);
    }
  });

  it("that comes byte by byte is waited for ten seconds, its headers for five", async () => {
    const { host } = new URL(started.url);
    const login = `POST /api/login HTTP/1.1\r\nhost: ${host}\r\n${"content-type: application/json\r\ncontent-length: 100\r\n\r\n"}`;
    const timers: NodeJS.Timeout[] = [];
    const dripping = (write: (more: string) => void) => void timers.push(setInterval(() => write("x"), 500));
    const answers = await Promise.all([
      raw(login, dripping),
      raw(`GET /api/me HTTP/1.1\r\nhost: ${host}\r\nx: `, dripping),
    ]);
    for (const timer of timers) clearInterval(timer);
    expect(answers.map(statusOf)).toEqual(["408", "408"]);
    expect((await fetch(`${started.url}/api/me`, { headers: bearer })).status).toBe(200);
  });

  it("smuggles no second request", async () => {
    const { host } = new URL(started.url);
    const head = `POST /api/login HTTP/1.1\r\nhost: ${host}\r\ncontent-type: application/json\r\n`;
    const second = `GET /api/me HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`;
    for (const lengths of [
      "content-length: 5\r\ntransfer-encoding: chunked\r\n",
      "content-length: 5\r\ncontent-length: 6\r\n",
      "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n",
      "transfer-encoding: xchunked\r\n",
    ]) {
      const answer = await raw(`${head}${lengths}connection: close\r\n\r\n0\r\n\r\n${second}`);
      expect([lengths, answer]).toEqual([lengths, expect.not.stringContaining('"owner"')]);
    }
  });
});

describe("a webhook", () => {
  const seconds = () => Math.floor(Date.now() / 1000);

  const message = (id: string, token: string) => {
    const event = textMessage(`from ${id}`, { senderId: ZHANG, messageId: `om_${id}` });
    return { ...event, header: { ...event.header, event_id: `ev_${id}`, token } };
  };

  const post = async (account: string, init: RequestInit) =>
    (await fetch(`${started.url}/channels/feishu/${account}/events`, init)).status;

  const inbox = async (id: string) =>
    (await fetch(`${started.url}/api/trace/om_${id}`, { headers: bearer })).status;

  it("is taken from its own app, once, and from no other app, account, time or hand", async () => {
    const mine = (id: string, timestamp = seconds()) =>
      push(message(id, APP.verificationToken), { encryptKey: APP.encryptKey, timestamp });
    expect(await post("main", mine("good"))).toBe(200);
    // The same again is the same message.
    expect(await post("main", mine("good"))).toBe(200);
    await started.settled();
    expect(world.feishu.sent.filter(({ content }) => content.includes("fine"))).toHaveLength(1);

    // What one app has signed is nothing to the account of another.
    expect(await post("other", mine("cross"))).toBe(401);
    const theirs = push(message("cross2", OTHER.verificationToken), OTHER);
    expect(await post("main", theirs)).toBe(401);
    expect(await post("nobody", mine("cross3"))).toBe(404);

    const good = mine("forged");
    const forged: RequestInit[] = [
      { ...good, headers: { ...good.headers, "x-lark-signature": "0".repeat(64) } },
      { ...good, headers: { ...good.headers, "x-lark-request-timestamp": String(seconds() - 1) } },
      { ...good, headers: { ...good.headers, "x-lark-request-nonce": "n2" } },
      { ...good, body: good.body.replace(/.(?="\}$)/, "A") },
      { ...good, headers: json },
      { ...good, headers: json, body: JSON.stringify(message("forged", APP.verificationToken)) },
      push(message("forged", "another token"), { encryptKey: APP.encryptKey }),
    ];
    for (const init of forged) expect(await post("main", init)).toBe(401);
    // Feishu delivers for hours; nobody does after a day.
    expect(await post("main", mine("stale", seconds() - 24 * 3_600))).toBe(401);
    expect(await post("main", mine("future", seconds() + 24 * 3_600))).toBe(401);
    for (const id of ["cross", "cross2", "cross3", "forged", "stale", "future"])
      expect([id, await inbox(id)]).toEqual([id, 404]);
  });

  it("that nobody signed is counted, and fills no log", async () => {
    for (let times = 0; times < 50; times++)
      expect(await post("main", { method: "POST", headers: json, body: "{}" })).toBe(401);
    const metrics = await (await fetch(`${started.url}/metrics`, { headers: bearer })).text();
    expect(metrics).toContain('signalbox_refused_requests_total{door="channels",status="401"} 50');
    const lines = started.log().split("\n");
    expect(
      lines.filter((line) => line.includes("a request was refused") && !line.includes('"level":"debug"')),
    ).toEqual([]);
  });
});
