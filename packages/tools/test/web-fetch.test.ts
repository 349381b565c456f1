import { channel } from "node:diagnostics_channel";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Server as TcpServer } from "node:net";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGuardedFetch } from "../src/index.ts";
import { isPublicAddress } from "../src/web/address.ts";
import { FetchError } from "../src/web/errors.ts";
import type { GuardedFetchOptions } from "../src/web/guarded-fetch.ts";

/** Counts all connection attempts of this process. */
let sockets = 0;
const onSocket = () => {
  sockets += 1;
};
beforeAll(() => channel("net.client.socket").subscribe(onSocket));
afterAll(() => void channel("net.client.socket").unsubscribe(onSocket));

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

async function serve(handler: Handler) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = address(server);
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function address(server: TcpServer): AddressInfo {
  const found = server.address();
  if (found === null || typeof found === "string") throw new Error("the server does not listen");
  return found;
}

async function code(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined) return "fetched";
  if (error instanceof FetchError) return error.code;
  throw error;
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

/** Internal addresses, each in the spellings that try to bypass a check. */
const HOSTILE: readonly string[] = [
  // Loopback in several spellings.
  ..."http://127.0.0.1 http://127.0.0.1:8080/ http://127.1 http://127.0.1 http://127.255.255.254".split(" "),
  ..."http://2130706433 http://0x7f000001 http://017700000001 http://0x7f.1 http://0177.0.0.1".split(" "),
  ..."http://0x7f.0x0.0x0.0x1 http://0177.0.0.01 http://127.0x1 http://127.0.0.1. http://0".split(" "),
  ..."http://0.0.0.0 http://0.0.0.1 http://00.0.0.0 http://0x0 https://127.0.0.1 HTTP://127.0.0.1".split(" "),
  ..."http://①②⑦.⓪.⓪.① http://127。0。0。1 http://127．0．0．1 http://１２７.0.0.1 http://%31%32%37.0.0.1".split(
    " ",
  ),
  ..."http://127.0.0.1\t/ http://12\n7.0.0.1/ http:127.0.0.1 http:/127.0.0.1 http:\\\\127.0.0.1".split(" "),
  // Loopback by name.
  ..."http://localhost http://LOCALHOST http://localhost. http://a.localhost http://localhost:80 https://localhost".split(
    " ",
  ),
  // IPv6.
  ..."http://[::1] http://[::] http://[0:0:0:0:0:0:0:1] http://[0000::0001] http://[::1]:80".split(" "),
  ..."http://[::ffff:127.0.0.1] http://[::ffff:7f00:1] http://[::ffff:0:127.0.0.1] http://[::127.0.0.1]".split(
    " ",
  ),
  ..."http://[::ffff:10.0.0.1] http://[::ffff:169.254.169.254] http://[::ffff:a9fe:a9fe]".split(" "),
  ..."http://[64:ff9b::127.0.0.1] http://[64:ff9b::7f00:1] http://[64:ff9b:1::1] http://[100::1]".split(" "),
  ..."http://[2002:7f00:1::] http://[2002:a00:1::1] http://[2001::1] http://[2001:0:7f00:1::]".split(" "),
  ..."http://[fe80::1] http://[febf::1] http://[fec0::1] http://[fc00::1] http://[fd00:ec2::254]".split(" "),
  ..."http://[fd12:3456:789a::1] http://[ff02::1] http://[ff05::1:3] http://[2001:db8::1] http://[3fff::1]".split(
    " ",
  ),
  ..."http://[5f00::1] http://[4000::1] http://[::2] http://[1::1]".split(" "),
  // Private, shared, link-local, documentation, multicast, reserved.
  ..."http://10.0.0.1 http://10.255.255.255 http://172.16.0.1 http://172.31.255.255 http://192.168.0.1".split(
    " ",
  ),
  ..."http://192.168.255.255 http://100.64.0.1 http://100.127.255.255 http://169.254.0.1".split(" "),
  ..."http://192.0.0.1 http://192.0.2.1 http://192.88.99.1 http://198.18.0.1 http://198.19.255.255".split(
    " ",
  ),
  ..."http://198.51.100.1 http://203.0.113.1 http://224.0.0.1 http://239.255.255.255 http://240.0.0.1".split(
    " ",
  ),
  ..."http://255.255.255.255 http://3232235521 http://0xc0a80001 http://0xa000001 http://012.0.0.1".split(
    " ",
  ),
  // Metadata services of clouds.
  ..."http://169.254.169.254/latest/meta-data/ http://2852039166 http://0xa9fea9fe http://0251.0376.0251.0376".split(
    " ",
  ),
  ..."http://169.254.43518 http://169.16689662 http://100.100.100.200 http://168.63.129.16 http://192.0.0.192".split(
    " ",
  ),
  ..."http://metadata.google.internal/computeMetadata/v1/ http://metadata http://instance-data".split(" "),
  // Credentials, other schemes, other services.
  ..."http://user@example.com http://user:secret@example.com http://example.com:80@127.0.0.1 http://a@127.0.0.1".split(
    " ",
  ),
  ..."file:///etc/passwd ftp://example.com gopher://127.0.0.1:6379/_ dict://127.0.0.1:11211 ws://example.com".split(
    " ",
  ),
  ..."data:text/html,x blob:http://example.com/1 javascript:alert(1) jar:http://example.com!/ about:blank".split(
    " ",
  ),
  ..."http://example.com:22 http://example.com:25 http://example.com:0 http://example.com:6379 http://example.com:11211".split(
    " ",
  ),
  // Invalid addresses.
  ..."http:// http://[ http://[::1 http://[fe80::1%25eth0] http://256.256.256.256 http://1.2.3.4.5.6 //127.0.0.1 /etc".split(
    " ",
  ),
  "",
  " ",
  "http://a b",
  "http://exa%00mple.com",
  "http://example.com%2f@127.0.0.1",
  "http://ex\u0000ample.com",
  `http://example.com/${"a".repeat(5_000)}`,
  // Names that resolve to internal addresses.
  ..."http://inside.example http://mixed.example http://inside6.example http://mapped.example".split(" "),
  ..."http://empty.example http://garbage.example http://zoned.example http://127.0.0.1.nip.example".split(
    " ",
  ),
];

/** Results of name lookups. Other names are public. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  localhost: ["127.0.0.1"],
  "localhost.": ["127.0.0.1"],
  "a.localhost": ["::1"],
  metadata: ["169.254.169.254"],
  "instance-data": ["169.254.169.254"],
  "metadata.google.internal": ["169.254.169.254"],
  "inside.example": ["10.1.2.3"],
  "mixed.example": ["93.184.216.34", "127.0.0.1"],
  "inside6.example": ["fd00::1"],
  "mapped.example": ["::ffff:127.0.0.1"],
  "empty.example": [],
  "garbage.example": ["not an address"],
  "zoned.example": ["2606:2800:220:1::1%lo"],
  "127.0.0.1.nip.example": ["127.0.0.1"],
};

const resolve: NonNullable<GuardedFetchOptions["resolve"]> = async (host) => NAMES[host] ?? ["93.184.216.34"];

describe("the guarded fetch", () => {
  it(`connects nowhere for any of ${HOSTILE.length} hostile addresses`, async () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(100);
    const fetch = createGuardedFetch({ resolve });
    const before = sockets;
    for (const url of HOSTILE) {
      expect(["bad_url", "blocked", "network"], JSON.stringify(url)).toContain(await code(fetch(url)));
    }
    expect(sockets).toBe(before);
  });

  it("recognizes public addresses", () => {
    const open = ["93.184.216.34", "1.1.1.1", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450::1"];
    expect(open.filter((one) => !isPublicAddress(one))).toEqual([]);
    expect(
      ["", "example.com", "1.1.1", "2606:4700::1%eth0", "::ffff:1.1.1.1"].filter(isPublicAddress),
    ).toEqual([]);
  });

  it("reveals nothing about internal networks", async () => {
    const fetch = createGuardedFetch({ resolve });
    await expect(fetch("http://inside.example/")).rejects.toThrow(
      "inside.example is not a host on the public internet.",
    );
  });

  it("reaches an allowed internal host only by this name and port", async () => {
    await using server = await serve((_request, response) => void response.end("inside"));
    const fetch = createGuardedFetch({ allow: [server.host] });
    expect(text((await fetch(`${server.url}/a#b`)).bytes)).toBe("inside");
    expect(server.requests[0]?.url).toBe("/a");
    expect(server.requests[0]?.headers.host).toBe(server.host);
    expect(await code(fetch(`http://localhost:${server.port}`))).toBe("blocked");
    expect(await code(fetch(`http://127.0.0.1:${server.port + 1}`))).toBe("blocked");
    expect(await code(fetch(`http://[::ffff:127.0.0.1]:${server.port}`))).toBe("blocked");
    expect(server.requests).toHaveLength(1);
  });

  it("does not look up names after an abort", async () => {
    const asked: string[] = [];
    const fetch = createGuardedFetch({
      resolve: (host) => {
        asked.push(host);
        return Promise.reject(new Error("ENOTFOUND"));
      },
    });
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(fetch("http://name.example", { signal })).rejects.toThrow("stopped");
    expect(asked).toEqual([]);
  });

  it("connects to the checked address, even if the name resolves to another one later", async () => {
    await using server = await serve((_request, response) => void response.end("inside"));
    let asked = 0;
    // Nothing listens at the first address. A second lookup would lead to the server.
    const fetch = createGuardedFetch({
      resolve: async () => {
        asked += 1;
        return asked === 1 ? ["127.0.0.2"] : ["127.0.0.1"];
      },
      allow: [`rebound.example:${server.port}`],
    });
    expect(await code(fetch(`http://rebound.example:${server.port}/`))).toBe("network");
    expect(asked).toBe(1);
    expect(server.requests).toEqual([]);
    // The system's resolver does not know the name.
    const pinned = createGuardedFetch({
      resolve: async () => ["127.0.0.1"],
      allow: [`rebound.example:${server.port}`],
    });
    expect(text((await pinned(`http://rebound.example:${server.port}/`)).bytes)).toBe("inside");
    expect(server.requests[0]?.headers.host).toBe(`rebound.example:${server.port}`);
  });

  it("checks the target of every redirect", async () => {
    const targets = [
      "http://127.0.0.1:1/",
      "http://2130706433/",
      "//127.0.0.1/",
      "http://[::1]/",
      "http://inside.example/",
      "http://169.254.169.254/latest/",
      "file:///etc/passwd",
      "http://user:secret@example.com/",
      "ftp://example.com/",
    ];
    await using server = await serve((request, response) => {
      const index = Number(request.url?.slice(1));
      response.writeHead(302, { location: targets[index] ?? "/again" }).end();
    });
    const fetch = createGuardedFetch({ allow: [server.host], resolve });
    for (const [index, target] of targets.entries()) {
      const before = sockets;
      expect(["blocked", "bad_url"], target).toContain(await code(fetch(`${server.url}/${index}`)));
      expect(sockets).toBe(before + 1);
    }
  });

  it("limits redirects, and sends headers only to the first origin", async () => {
    await using other = await serve((request, response) => {
      if (request.url === "/back") response.writeHead(307, { location: `${first.url}/end` }).end();
      else response.end("other");
    });
    await using first = await serve((request, response) => {
      const to = {
        "/same": "/end",
        "/cross": `${other.url}/`,
        "/there": `${other.url}/back`,
        "/loop": "/loop",
      }[request.url ?? ""];
      if (to === undefined) response.end("end");
      else response.writeHead(302, { location: to }).end();
    });
    const fetch = createGuardedFetch({ allow: [first.host, other.host] });
    const headers = { authorization: "Bearer secret", cookie: "a=1", "x-key": "secret" };
    expect((await fetch(`${first.url}/same`, { headers })).url).toBe(`${first.url}/end`);
    expect(first.requests.map((one) => one.headers["x-key"])).toEqual(["secret", "secret"]);
    await fetch(`${first.url}/cross`, { headers });
    await fetch(`${first.url}/there`, { headers });
    const later = [...other.requests, ...first.requests.slice(4)];
    expect(later).toHaveLength(3);
    for (const { headers: got } of later)
      expect([got.authorization, got.cookie, got["x-key"]]).toEqual([undefined, undefined, undefined]);
    const before = first.requests.length;
    expect(await code(fetch(`${first.url}/loop`))).toBe("redirects");
    expect(first.requests.length - before).toBe(6);
  });

  it("decompresses responses", async () => {
    const pack = {
      gzip: gzipSync,
      deflate: deflateSync,
      br: brotliCompressSync,
      identity: (all: Buffer) => all,
    };
    await using server = await serve((request, response) => {
      const [name, how] = Object.entries(pack).find(([key]) => request.url === `/${key}`) ?? [];
      response.writeHead(200, { "content-encoding": name ?? "", "content-type": "text/plain" });
      response.end(how?.(Buffer.from("words ".repeat(1_000))));
    });
    const fetch = createGuardedFetch({ allow: [server.host] });
    for (const name of Object.keys(pack)) {
      const { bytes, contentType } = await fetch(`${server.url}/${name}`);
      expect([bytes.byteLength, contentType]).toEqual([6_000, "text/plain"]);
    }
  });

  it("does not accept `deflate`", async () => {
    await using server = await serve((request, response) => {
      const isWanted = request.headers["accept-encoding"]?.includes("deflate") === true;
      if (isWanted) response.writeHead(200, { "content-encoding": "deflate" });
      response.end(isWanted ? deflateRawSync("words") : "words");
    });
    const { bytes } = await createGuardedFetch({ allow: [server.host] })(server.url);
    expect(text(bytes)).toBe("words");
  });

  it("stops at decompression bombs, endless pages and broken compression", async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    let written = 0;
    await using server = await serve((request, response) => {
      if (request.url === "/bomb") {
        response.writeHead(200, { "content-encoding": "gzip" }).end(bomb);
      } else if (request.url === "/twice") {
        response.writeHead(200, { "content-encoding": "gzip, gzip" }).end(gzipSync(bomb));
      } else if (request.url === "/broken") {
        response.writeHead(200, { "content-encoding": "gzip" }).end("no gzip at all");
      } else if (request.url === "/cut") {
        response.writeHead(200, { "content-encoding": "gzip" }).end(bomb.subarray(0, 1_000));
      } else if (request.url === "/odd") {
        response.writeHead(200, { "content-encoding": "zip" }).end("x");
      } else {
        const more = () => {
          written += 65_536;
          if (!response.destroyed) response.write(Buffer.alloc(65_536), () => setImmediate(more));
        };
        more();
      }
    });
    const fetch = createGuardedFetch({ allow: [server.host], maxBytes: 1_000_000 });
    expect(bomb.length).toBeLessThan(100_000);
    expect(await code(fetch(`${server.url}/bomb`))).toBe("too_large");
    expect(await code(fetch(`${server.url}/endless`))).toBe("too_large");
    expect(written).toBeLessThan(20_000_000);
    for (const path of ["twice", "broken", "odd"])
      expect(await code(fetch(`${server.url}/${path}`))).toBe("encoding");
    expect(["encoding", "too_large", "network"]).toContain(await code(fetch(`${server.url}/cut`)));
    expect(await code(fetch(`${server.url}/bomb`, { maxBytes: 90_000_000 }))).toBe("too_large");
  });

  it("keeps its time limit: slow data, silence, a slow resolver, a redirect loop", async () => {
    const ended: Promise<void>[] = [];
    await using server = await serve((request, response) => {
      ended.push(new Promise((resolve) => response.once("close", resolve)));
      if (request.url === "/silent") return;
      response.writeHead(200);
      const drip = setInterval(() => void response.write("."), 10);
      response.once("close", () => clearInterval(drip));
    });
    const fetch = createGuardedFetch({ allow: [server.host], timeoutMs: 150 });
    for (const path of ["drip", "silent"]) expect(await code(fetch(`${server.url}/${path}`))).toBe("timeout");
    // The connection to the server is closed, too.
    await Promise.all(ended);
    const slow = createGuardedFetch({ resolve: () => new Promise(() => {}), timeoutMs: 50 });
    expect(await code(slow("http://example.com"))).toBe("timeout");
    const caller = new AbortController();
    const given = fetch(`${server.url}/silent`, { signal: caller.signal, timeoutMs: 60_000 });
    caller.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
  });

  it("reports errors of the server and the network", async () => {
    await using server = await serve((request, response) => {
      if (request.url === "/cut")
        response.writeHead(200, { "content-length": 100 }).write("x", () => response.destroy());
      else if (request.url === "/nowhere") response.writeHead(302).end();
      else response.writeHead(Number(request.url?.slice(1))).end("no");
    });
    const fetch = createGuardedFetch({ allow: [server.host, "127.0.0.1:1", "absent.example:80"], resolve });
    expect(await code(fetch(`${server.url}/404`))).toBe("status");
    expect(await code(fetch(`${server.url}/500`))).toBe("status");
    expect(await code(fetch(`${server.url}/cut`))).toBe("network");
    expect(await code(fetch(`${server.url}/nowhere`))).toBe("redirects");
    expect(await code(fetch("http://127.0.0.1:1/"))).toBe("network");
    const lost = createGuardedFetch({ resolve: () => Promise.reject(new Error("ENOTFOUND 10.0.0.1")) });
    await expect(lost("http://absent.example")).rejects.toThrow("The host absent.example was not found.");
  });
});
