import { loadConfig } from "@signalbox/config";
import { startSandbox } from "@signalbox/tools";
import { expect, it } from "vitest";
import { createExecSandbox } from "../../src/configure/exec-sandbox.ts";

/** Where commands run at each of several asks, each so long after the one before, and how many attempts that took. */
async function getLevels(sandbox: string, attempts: readonly ("off" | "none")[], waitMs: number) {
  const text = JSON.stringify({ tools: { exec: { sandbox } } });
  const { config, problems } = loadConfig({ file: "signalbox.json", text, env: {} });
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  let made = 0;
  let time = 0;
  const current = createExecSandbox(() => config, "/nowhere", {
    now: () => time,
    start: () => startSandbox({ setting: attempts[made++] ?? "off" }),
  });
  const levels: string[] = [];
  for (const _ of attempts) {
    levels.push((await current()).level);
    time += waitMs;
  }
  return { levels, made };
}

it("is proven again a minute after what stood in its way, and once where nothing does", async () => {
  expect(await getLevels("bubblewrap", ["off", "off", "none", "off"], 60_000)).toEqual({
    levels: ["disabled", "disabled", "none", "none"],
    made: 3,
  });
});

it("is not proven at each ask where it cannot be", async () => {
  const never = Array<"off">(5).fill("off");
  expect((await getLevels("bubblewrap", never, 20_000)).made).toBe(2);
});

it("is asked for once where commands are turned off", async () => {
  expect(await getLevels("off", ["off", "none"], 60_000)).toEqual({
    levels: ["disabled", "disabled"],
    made: 1,
  });
});
