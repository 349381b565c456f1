import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkLayers, readMembers } from "./layers.mjs";

function member(name, text, path = "src/index.ts") {
  const test = path.startsWith("test/");
  return { name, folder: `packages/${name}`, manifest: {}, files: [{ path, text, test }] };
}

describe("checkLayers", () => {
  it("accepts this repository", () => {
    expect(checkLayers(readMembers(fileURLToPath(new URL("..", import.meta.url))))).toEqual([]);
  });

  it.each([
    ["an upward import", member("agent-core", 'import { x } from "@signalbox/store";'), "upward"],
    ["a sideways import", member("routing", 'import type { X } from "@signalbox/channel";'), "sideways"],
    [
      "a sideways import between channels",
      member("channel-feishu", 'export * from "@signalbox/channel-web";'),
      "sideways",
    ],
    ["a dynamic upward import", member("config", 'await import("@signalbox/gateway")'), "upward"],
    ["a subpath", member("tools", 'import "@signalbox/llm-providers/demo";'), "sideways"],
    ["stand-ins outside tests", member("gateway", 'import "@signalbox/testkit/feishu";'), "tests only"],
    ["a member in no row", member("surprise", ""), "no row"],
  ])("refuses %s", (_name, one, word) => {
    const offences = checkLayers([one]);
    expect(offences).toHaveLength(1);
    expect(offences[0]).toContain(word);
  });

  it("lets tests import what they like", () => {
    expect(checkLayers([member("routing", 'import "@signalbox/testkit";', "test/wire.test.ts")])).toEqual([]);
  });
});
