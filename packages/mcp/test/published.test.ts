import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { call, everyTool, everythingOverHttp, published, startServers, text } from "./harness.ts";

const overStdio = { command: process.execPath, args: [published.everything, "stdio"] };

it("calls tools of a published server over stdio, which finds nothing of the gateway's environment", async () => {
  process.env["SIGNALBOX_TEST_SECRET"] = "canary-5150";
  const servers = startServers({ all: { ...overStdio, env: { GIVEN: "yes" } } });
  expect(servers.status()).toMatchObject([{ name: "all", state: "not started" }]);
  const tools = await servers.tools(everyTool);
  expect(tools.map(({ name }) => name)).toContain("mcp__all__echo");
  expect(
    tools.every(
      ({ name, effects, changed }) => name.startsWith("mcp__all__") && effects === "external" && !changed,
    ),
  ).toBe(true);
  expect(text(await call(tools, "mcp__all__echo", { message: "hello" }))).toBe("Echo: hello");
  expect(text(await call(tools, "mcp__all__get-tiny-image"))).toContain("<image>");
  const environment = text(await call(tools, "mcp__all__get-env"));
  expect(environment).toContain('"GIVEN": "yes"');
  expect(environment).not.toContain("canary-5150");
  delete process.env["SIGNALBOX_TEST_SECRET"];
});

it("passes on progress, which prolongs a call, and ends a call without any", async () => {
  const servers = startServers({ all: { ...overStdio, callMs: 5_000 } });
  const tools = await servers.tools(everyTool);
  const seen: string[] = [];
  const run = (steps: number) =>
    call(
      tools,
      "mcp__all__trigger-long-running-operation",
      { duration: 7, steps },
      { update: (partial) => seen.push(text(partial)) },
    );
  const [prolonged, silent] = await Promise.allSettled([run(28), run(1)]);
  expect(prolonged.status).toBe("fulfilled");
  expect(silent).toMatchObject({ reason: { message: expect.stringMatching(/timed out/i) } });
  expect(seen.length).toBeGreaterThan(0);
  expect(text(await call(tools, "mcp__all__echo", { message: "still there" }))).toContain("still there");
});

it("calls tools of a published server over streamable HTTP", async () => {
  const servers = startServers({ web: { url: await everythingOverHttp() } });
  const tools = await servers.tools(everyTool);
  expect(servers.status()).toMatchObject([{ state: "ready", notes: [] }]);
  expect(text(await call(tools, "mcp__web__get-sum", { a: 2, b: 3 }))).toContain("5");
});

it("reads a file through the published file system server, and is refused one outside its folder", async () => {
  const folder = await mkdtemp(join(tmpdir(), "mcp-files-"));
  await writeFile(join(folder, "a.txt"), "what it says");
  const servers = startServers({
    files: { command: process.execPath, args: [published.filesystem, folder] },
  });
  const tools = await servers.tools(everyTool);
  expect(text(await call(tools, "mcp__files__read_text_file", { path: join(folder, "a.txt") }))).toBe(
    "what it says",
  );
  expect(await call(tools, "mcp__files__read_text_file", { path: "/etc/passwd" })).toMatchObject({
    isError: true,
  });
});

it("asks only the servers whose tools are wanted", async () => {
  const servers = startServers({ all: overStdio, other: { command: "/does/not/exist" } });
  expect(await servers.tools((prefix) => prefix === "mcp__none__")).toEqual([]);
  expect(servers.status().map(({ state }) => state)).toEqual(["not started", "not started"]);
});
