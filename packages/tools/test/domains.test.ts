import { once } from "node:events";
import { mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { connect, createServer as createTcpServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createProcesses } from "../src/background/processes.ts";
import { createProcessTool } from "../src/background/tool.ts";
import {
  createApprovals,
  createExecTool,
  formatApproval,
  openWorkspace,
  startSandbox,
  type ToolPolicy,
} from "../src/index.ts";
import { isListed, parseAuthority, parseProxyUrl } from "../src/sandbox/network/domains.ts";
import { type DomainProxyOptions, openDomainProxy } from "../src/sandbox/network/proxy.ts";
import { createTestApprovals } from "./approval-store.ts";
import { caller, textOf } from "./harness.ts";

test.each([
  [["example.org"], "example.org:443", true],
  [["example.org"], "EXAMPLE.org.:80", true],
  [["example.org"], "www.example.org:443", false],
  [["example.org"], "example.org:22", false],
  [["example.org:8443"], "example.org:8443", true],
  [["example.org:8443"], "example.org:443", false],
  [["*.example.org"], "a.b.example.org:443", true],
  [["*.example.org"], "example.org:443", false],
  [["*.example.org"], "evilexample.org:443", false],
  [["*.example.org"], "example.org.evil.net:443", false],
  [["*.0.0.1"], "127.0.0.1:80", false],
  [["1.2.3.4"], "1.2.3.4:80", true],
])("the list %j and the host %s", (domains, authority, listed) => {
  const target = parseAuthority(authority);
  expect(target !== undefined && isListed(domains, target)).toBe(listed);
});

test.each([
  "example.org",
  "example.org:99999999",
  "a@example.org:443",
  "http://example.org:80",
  "a b:1",
  ":80",
])("refuses to connect to %j", (text) => {
  expect(parseAuthority(text)).toBeUndefined();
});

test.each(["https://example.org/", "http://ann:pw@example.org/", "ftp://example.org/", "/path", ""])(
  "refuses the proxy request %j",
  (text) => {
    expect(parseProxyUrl(text)).toBeUndefined();
  },
);

let port = 0;
let asked: string[] = [];

beforeEach(async () => {
  asked = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.host}${request.url}`);
    request.resume().on("end", () => response.end("hello from the host\n"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  port = typeof address === "object" && address !== null ? address.port : 0;
  onTestFinished(() => void server.close());
});

afterEach(() => {
  expect(asked.every((line) => line.includes("listed.test"))).toBe(true);
});

/** Names that all resolve to this machine, which the proxy treats as a public host. */
const HERE: Pick<DomainProxyOptions, "resolve" | "isOpen"> = {
  resolve: async () => ["127.0.0.1"],
  isOpen: (address) => address === "127.0.0.1",
};

describe("the proxy", () => {
  /** Sends bytes to the proxy and returns its response, up to the end of the connection or to a marker. */
  async function say(
    bytes: string,
    options: Partial<DomainProxyOptions> = {},
    until = "\r\n\r\n",
  ): Promise<string> {
    const proxy = await openDomainProxy({ domains: [`listed.test:${port}`], ...HERE, ...options });
    const client = connect(proxy.socket);
    let heard = "";
    await new Promise<void>((resolve, reject) => {
      client.on("data", (data) => {
        heard += data;
        if (heard.includes(until)) resolve();
      });
      client.on("error", reject).on("close", () => resolve());
      client.write(bytes);
    });
    client.destroy();
    await proxy.close();
    return heard;
  }

  test("forwards requests to a listed host", async () => {
    const get = `GET http://listed.test:${port}/a?b HTTP/1.1\r\nHost: other.test\r\nProxy-Authorization: x\r\n\r\n`;
    expect(await say(get, {}, "hello")).toMatch(/^HTTP\/1.1 200/);
    // The `host` header is set to the requested host.
    expect(asked).toEqual([`GET listed.test:${port}/a?b`]);
  });

  /** Starts a server that answers every request with these bytes. */
  async function answering(bytes: string): Promise<number> {
    const server = createTcpServer((socket) => {
      socket.on("error", () => {}).once("data", () => socket.end(bytes));
    });
    onTestFinished(() => void server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address = server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  test.each([
    ["a status that is none", "HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nhi", 502],
    ["a status of nobody's", "HTTP/1.1 999 OK\r\nContent-Length: 2\r\n\r\nhi", 502],
    ["no status after an early one", "HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 099 X\r\n\r\n", 502],
    ["trailers where there are none", "HTTP/1.1 200 OK\r\nTrailer: x\r\nContent-Length: 2\r\n\r\nhi", 200],
  ])("handles %s from a server, and continues", async (_, bytes, status) => {
    const at = `listed.test:${await answering(bytes)}`;
    const get = `GET http://${at}/ HTTP/1.1\r\nHost: ${at}\r\n\r\n`;
    expect(await say(get, { domains: [at] })).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  test("handles a request that announces trailers without sending any", async () => {
    const post = `POST http://listed.test:${port}/ HTTP/1.1\r\nHost: listed.test\r\nTrailer: x\r\nContent-Length: 2\r\n\r\nhi`;
    expect(await say(post, {}, "hello")).toMatch(/^HTTP\/1.1 200/);
  });

  test("tunnels connections to a listed host", async () => {
    const tunnelled = `CONNECT listed.test:${port} HTTP/1.1\r\n\r\n`;
    expect(await say(tunnelled)).toBe("HTTP/1.1 200 Connection established\r\n\r\n");
  });

  test.each([
    ["another host", () => `CONNECT other.test:${port} HTTP/1.1\r\n\r\n`],
    ["another port", () => "CONNECT listed.test:443 HTTP/1.1\r\n\r\n"],
    ["an address", () => `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`],
    [
      "another host by plain HTTP",
      () => `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: listed.test\r\n\r\n`,
    ],
    ["no whole address", () => `GET / HTTP/1.1\r\nHost: listed.test:${port}\r\n\r\n`],
  ])("refuses %s", async (_, bytes) => {
    expect(await say(bytes())).toMatch(/^HTTP\/1.1 403/);
    expect(asked).toEqual([]);
  });

  test.each([[["10.0.0.1"]], [["169.254.169.254"]], [["93.184.216.34", "127.0.0.1"]], [["::1"]], [[]]])(
    "refuses a listed host that resolves to %j",
    async (addresses) => {
      const { isOpen: _, ...rest } = HERE;
      const proxy = { ...rest, resolve: async () => addresses };
      const opened = await openDomainProxy({ domains: ["listed.test"], ...proxy });
      const client = connect(opened.socket);
      const answer = await new Promise<string>((resolve) => {
        client.once("data", (data) => resolve(String(data)));
        client.write("CONNECT listed.test:443 HTTP/1.1\r\n\r\n");
      });
      await opened.close();
      expect(answer).toMatch(/^HTTP\/1.1 403/);
    },
  );

  test("resolves a name once, and connects to the result", async () => {
    let times = 0;
    const resolve = async () => (++times === 1 ? ["127.0.0.1"] : ["10.0.0.1"]);
    expect(await say(`CONNECT listed.test:${port} HTTP/1.1\r\n\r\n`, { resolve })).toMatch(/^HTTP\/1.1 200/);
    expect(times).toBe(1);
  });
});

/** Starts a server that reports each connection. */
async function listening(onConnection: (socket: Socket) => void): Promise<number> {
  const server = createTcpServer(onConnection).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

test("a truncated response is truncated for the command, too", async () => {
  const at = await listening((socket) => {
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"));
  });
  const proxy = await openDomainProxy({ domains: [`listed.test:${at}`], ...HERE });
  onTestFinished(() => proxy.close());
  const client = connect(proxy.socket).on("error", () => {});
  client.write(`GET http://listed.test:${at}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
  let heard = "";
  client.on("data", (data) => {
    heard += data;
  });
  await once(client, "close");
  expect(heard).toMatch(/half$/);
});

test("a request that is aborted before the connection leaves none behind", async () => {
  const ends: Promise<unknown>[] = [];
  const at = await listening((socket) => void ends.push(once(socket.resume(), "close")));
  const [asks, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<string[]>()];
  const resolve: DomainProxyOptions["resolve"] = () => {
    asks.resolve();
    return answer.promise;
  };
  const proxy = await openDomainProxy({ ...HERE, domains: [`listed.test:${at}`], resolve });
  onTestFinished(() => proxy.close());
  const client = connect(proxy.socket);
  client.write(`GET http://listed.test:${at}/ HTTP/1.1\r\nHost: x\r\n\r\n`);
  await asks.promise;
  client.destroy();
  await once(client, "close");
  // The proxy notices the closed connection.
  await setImmediate();
  answer.resolve(["127.0.0.1"]);
  await expect.poll(() => ends.length).toBe(1);
  await Promise.all(ends);
});

let opened = 0;
let beforeOpen = (): void => {};
const sandbox = await startSandbox({
  limits: { timeoutMs: 60_000 },
  async openProxy(domains) {
    beforeOpen();
    const proxy = await openDomainProxy({ domains, ...HERE });
    opened += 1;
    return {
      ...proxy,
      async close() {
        await proxy.close();
        opened -= 1;
      },
    };
  },
});
const isSandboxed = sandbox.level === "bubblewrap";
if (!isSandboxed) console.log(`skipped: commands in the sandbox, since ${sandbox.reason}`);

describe.skipIf(!isSandboxed)("a command", () => {
  async function agent(facts: Parameters<typeof caller>[1] = {}, policy: ToolPolicy = { allow: ["*"] }) {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), "domains-")));
    onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
    const workspace = await openWorkspace({ dir });
    const approvals = createApprovals({ store: createTestApprovals() });
    const processes = createProcesses();
    onTestFinished(() => processes.end());
    const exec = createExecTool({ workspace, sandbox, processes, domains: [`listed.test:${port}`] });
    const run = caller([exec, createProcessTool({ processes })], {
      facts: { role: "owner" },
      policy,
      approvals,
      ...facts,
    });
    return { run, approvals, workspace };
  }
  const curl = (host: string) => `curl -sS -m 50 http://${host}:${port}/ | tee page; exit \${PIPESTATUS[0]}`;

  test("reaches a listed host if it requests the network, and the content is untrusted", async () => {
    const { run, workspace } = await agent();
    const said = textOf(await run.call("exec", { command: curl("listed.test"), network: true }));
    expect(said).toBe("hello from the host\n[exit code 0]");
    expect(run.state.facts.taint).toMatchObject([{ source: "web" }]);
    expect(workspace.labels.getOwn(join(workspace.dir, "page"))).toMatchObject({ source: "web" });
  });

  test("reaches no other host, nothing past the proxy, and nothing without the request", async () => {
    const { run } = await agent();
    const call = async (command: string, network: boolean) =>
      textOf(await run.call("exec", { command, network }));
    expect(await call(`curl -sS --noproxy '*' http://127.0.0.1:${port}/`, false)).toMatch(/exit code 7/);
    expect(await call(curl("listed.test"), false)).not.toContain("hello");
    expect(
      await call(`${curl("other.test")}; curl -sS --noproxy '*' http://127.0.0.1:${port}/`, true),
    ).toMatch(/not among the hosts that commands may reach/);
    expect(asked).toEqual([]);
  });

  test("needs approval in a tainted run, and the request names the hosts", async () => {
    const taint = [{ source: "web" as const, detail: "https://evil.example" }];
    const { run, approvals } = await agent({ facts: { role: "owner", taint } });
    const said = textOf(await run.call("exec", { command: curl("listed.test"), network: true }));
    expect(said).toContain("needs approval");
    const [question] = await approvals.list();
    expect(question && formatApproval(question)).toContain(`Reaches: \`listed.test:${port}\``);
    expect(asked).toEqual([]);
  });

  test("in the background taints its readers, and then refuses their input", async () => {
    const { run } = await agent();
    const command = `${curl("listed.test").replace(/;.*/, "")}; read line; curl -sS http://listed.test:${port}/$line`;
    const started = textOf(await run.call("exec", { command, network: true, background: true }));
    const id = /(\w+) is running in the background/.exec(started)?.[1] ?? "none";
    expect(run.state.facts.taint).toMatchObject([{ source: "web" }]);
    const written = textOf(await run.call("process", { action: "write", id, input: "secret\n" }));
    expect(written).toContain("It accepts no input from here.");
    expect(asked.join("\n")).not.toContain("secret");
  });

  test("leaves no proxy behind if it cannot start or is stopped before", async () => {
    const { workspace } = await agent();
    symlinkSync("nowhere", join(workspace.dir, "SOUL.md"));
    const stop = new AbortController();
    const request = {
      script: "sleep 60",
      folders: workspace,
      cwd: workspace.dir,
      covers: [],
      domains: ["listed.test"],
      signal: stop.signal,
    };
    const linked = { files: ["SOUL.md"], folders: [] };
    await expect(sandbox.run({ ...request, protect: linked })).rejects.toThrow("SOUL.md is a link");
    expect(opened).toBe(0);
    beforeOpen = () => stop.abort(new Error("stopped"));
    onTestFinished(() => {
      beforeOpen = () => {};
    });
    await expect(sandbox.run({ ...request, protect: { files: [], folders: [] } })).rejects.toThrow("stopped");
    expect(opened).toBe(0);
  });

  test("has the exit code of its program", async () => {
    const { run } = await agent();
    expect(textOf(await run.call("exec", { command: "echo x; exit 3", network: true }))).toBe(
      "x\n[exit code 3]",
    );
  });
});
