import { execFile } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { createServer, request } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it, onTestFinished } from "vitest";
import { openServer, TOKEN } from "./harness.ts";
import { createMemoryService } from "./memory-service.ts";

const runner = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/dist/index.js");

/** Starts a proxy that adds the token, because the runner cannot send one. It passes on all other headers. */
async function startProxy(target: string): Promise<string> {
  const { hostname, port } = new URL(target);
  let own = "";
  const proxy = createServer((incoming, outgoing) => {
    const { headers, method, url: path } = incoming;
    // The runner tries other hosts. Its own name of the proxy stands for that of the server.
    const host = headers.host === own ? `${hostname}:${port}` : headers.host;
    const origin = headers.origin === `http://${own}` ? `http://${hostname}:${port}` : headers.origin;
    const changed = { ...headers, host, ...(origin === undefined ? {} : { origin }) };
    const sent = request({
      hostname,
      port,
      method,
      path,
      headers: { ...changed, authorization: `Bearer ${TOKEN}` },
    });
    sent.on("response", (response) => {
      outgoing.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(outgoing);
    });
    sent.on("error", () => outgoing.destroy());
    incoming.pipe(sent);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  own = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return `http://${own}/mcp`;
}

it.each(["server-initialize", "dns-rebinding-protection"])(
  "passes the scenario %s of the official conformance suite as a server",
  async (scenario) => {
    const { url } = await openServer(createMemoryService());
    const proxy = await startProxy(url);
    // The runner writes its observations into its working directory.
    const cwd = await mkdtemp(join(tmpdir(), "mcp-conformance-"));
    const args = [runner, "server", "--url", proxy, "--scenario", scenario];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { cwd }).catch(
      (error: { stdout: string; stderr: string }) => error,
    );
    expect(`${stdout}${stderr}`).toMatch(/Passed: [1-9]\d*\/\d+, 0 failed/);
  },
);
