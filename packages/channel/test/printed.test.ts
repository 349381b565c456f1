import { expect, it, vi } from "vitest";
import { inOwnProcess } from "../src/process/index.ts";
import { openChannel } from "../src/testkit/index.ts";
import printing from "./printing.ts";

const MODULE = new URL("./printing.ts", import.meta.url).href;

it("logs what the process of an account prints, and gives it the way to the network of its host's environment", async () => {
  vi.stubEnv("https_proxy", "http://proxy.example:3128");
  vi.stubEnv("HOME", "/home/of/the/host");
  await using running = await openChannel(inOwnProcess(printing, MODULE), {});
  const printed = () => running.logged.filter((line) => line.includes("printed something")).join("\n");
  await expect.poll(printed).toContain("home undefined");
  expect(printed()).toContain("proxy http://proxy.example:3128");
  await expect.poll(printed).toContain(String.raw`Error: something broke\n    at the second line`);
});

it("lets no process of an account fill the log of its host", async () => {
  await using running = await openChannel(inOwnProcess(printing, MODULE), {});
  await expect.poll(() => running.logged.some((line) => line.startsWith("the last entry"))).toBe(true);
  // A minute may end meanwhile.
  expect(running.logged.filter((line) => line.startsWith("entry ")).length).toBeLessThanOrEqual(120);
});
