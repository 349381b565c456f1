import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { call, everyTool, fakeServer, published, startServers, text } from "./harness.ts";

const EVERYTHING = { command: process.execPath, args: [published.everything] };
const LONG = "mcp__all__trigger-long-running-operation";

it("keeps a server with unchanged settings, and ends a removed one after its calls", async () => {
  const servers = startServers({ all: EVERYTHING, other: fakeServer("long-call") });
  const before = await servers.tools(everyTool);
  const longCall = call(before, LONG, { duration: 1, steps: 1 });
  servers.configure({ all: { ...EVERYTHING, callMs: 20_000 } });
  expect(servers.status().map(({ name, state }) => [name, state])).toEqual([["all", "not started"]]);
  // It was under way, and has its answer from the server that it was put to.
  expect(text(await longCall)).toContain("completed");
  await expect(call(before, "mcp__other__echo")).rejects.toThrow(
    "configuration of the MCP server other has changed",
  );
  const after = await servers.tools(everyTool);
  servers.configure({ all: { ...EVERYTHING, callMs: 20_000 } });
  expect(servers.status()[0]?.state).toBe("ready");
  expect(await servers.tools(everyTool)).toHaveLength(after.length);
});

it("uses the process that the host starts, and a new one after it has ended", async () => {
  const started: ChildProcess[] = [];
  const servers = startServers({
    all: {
      start: async () => {
        const child = spawn(process.execPath, [published.everything], { stdio: "pipe" });
        started.push(child);
        return child;
      },
    },
  });
  const tools = await servers.tools(everyTool);
  expect(text(await call(tools, "mcp__all__echo", { message: "hi" }))).toContain("hi");
  const [first] = started;
  first?.kill("SIGKILL");
  await expect.poll(() => servers.status()[0]?.state).toBe("down");
  await expect
    .poll(() => call(tools, "mcp__all__echo", { message: "again" }).then(text, String))
    .toContain("again");
  await servers.close();
  expect(started).toHaveLength(2);
  expect(started.every(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null)).toBe(true);
});

it("fails the start if the host's process has already ended", async () => {
  const child = spawn(process.execPath, ["--eval", ""], { stdio: "pipe" });
  await once(child, "exit");
  const servers = startServers({ all: { start: async () => child } });
  expect(await servers.tools(everyTool)).toEqual([]);
  expect(servers.status()[0]).toMatchObject({ state: "down", notes: ["the server process has ended"] });
});
