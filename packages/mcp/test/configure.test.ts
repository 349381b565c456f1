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
