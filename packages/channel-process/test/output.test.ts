import { openChannel } from "@signalbox/channel/testkit";
import { expect, it, vi } from "vitest";
import { inOwnProcess } from "../src/index.ts";
import printing from "./printing.ts";

const MODULE = new URL("./printing.ts", import.meta.url).href;

it("logs the process's output, and passes on only the environment that the network needs", async () => {
  vi.stubEnv("https_proxy", "http://proxy.example:3128");
  vi.stubEnv("HOME", "/home/of/the/host");
  await using running = await openChannel(inOwnProcess(printing, MODULE), {});
  const printed = () => running.logged.filter((line) => line.includes('"printed"')).join("\n");
  await expect.poll(printed).toContain("home undefined");
  expect(printed()).toContain("proxy http://proxy.example:3128");
  await expect.poll(printed).toContain(String.raw`Error: something broke\n    at the second line`);
});

it("limits the entries that a process writes to the gateway's log", async () => {
  await using running = await openChannel(inOwnProcess(printing, MODULE), {});
  await expect.poll(() => running.logged.some((line) => line.startsWith("the last entry"))).toBe(true);
  // The limit is per minute, and a new minute may begin during the test.
  expect(running.logged.filter((line) => line.startsWith("entry ")).length).toBeLessThanOrEqual(120);
});
