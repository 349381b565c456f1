import { loadConfig } from "@signalbox/config";
import { startSandbox } from "@signalbox/tools";
import { expect, it } from "vitest";
import { createExecSandbox } from "../src/index.ts";

/** Where commands run after each of several attempts, and how many attempts that took. */
async function rungsOf(sandbox: string, attempts: readonly ("off" | "none")[]) {
  const text = JSON.stringify({ tools: { exec: { sandbox } } });
  const { config, problems } = loadConfig({ file: "signalbox.json", text, env: {} });
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  let made = 0;
  const current = createExecSandbox(
    () => config,
    "/nowhere",
    () => startSandbox({ setting: attempts[made++] ?? "off" }),
  );
  const rungs: string[] = [];
  for (const _ of attempts) rungs.push((await current()).rung);
  return { rungs, made };
}

it("is proven again after what stood in its way, and once where nothing does", async () => {
  expect(await rungsOf("bubblewrap", ["off", "off", "none", "off"])).toEqual({
    rungs: ["disabled", "disabled", "none", "none"],
    made: 3,
  });
});

it("is asked for once where commands are turned off", async () => {
  expect(await rungsOf("off", ["off", "none"])).toEqual({ rungs: ["disabled", "disabled"], made: 1 });
});
