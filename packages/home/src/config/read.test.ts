import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { locateHome } from "../layout.ts";
import { readConfig, rereadConfig } from "./read.ts";

it("reads secrets of programs without blocking the event loop", async () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-home-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const says = `process.stdin.resume().on("end", () => process.stdout.write("said-" + process.env.WHICH + "\\n"))`;
  const providers = {
    good: { api: "openai-chat", apiKey: { command: [process.execPath, "-e", says] } },
    none: { api: "openai-chat", apiKey: { command: ["no-such-program"] } },
    wrong: { api: "openai-chat", apiKey: { command: [process.execPath, "-e", "process.exit(3)"] } },
    killed: {
      api: "openai-chat",
      apiKey: { command: [process.execPath, "-e", "process.kill(process.pid, 'SIGKILL')"] },
    },
    unnamed: { api: "openai-chat", apiKey: { command: [""] } },
  };
  writeFileSync(join(dir, "signalbox.json"), JSON.stringify({ models: { providers } }));
  const env = { ...process.env, WHICH: "once" };
  const home = locateHome(dir, {});
  const first = readConfig(home, env);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const again = await rereadConfig(home, env, first.config);
  clearInterval(timer);
  expect(turns).toBeGreaterThan(0);
  expect(again.config.models.providers["good"]).toMatchObject({ apiKey: "said-once" });
  expect(again).toMatchObject({ config: first.config, problems: first.problems });
  expect(again.problems.map(({ message }) => message).join()).toMatch(
    /the program no-such-program was not found.*it ended with status 3.*it ended with SIGKILL.*it ended with ERR_INVALID_ARG_VALUE/s,
  );
});

it("is refused with two configuration files", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-home-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "signalbox.json"), "{}");
  expect(readConfig(locateHome(dir, {}), {}).file).toBe(join(dir, "signalbox.json"));
  writeFileSync(join(dir, "signalbox.yaml"), "access: { dm: open }\n");
  expect(() => readConfig(locateHome(dir, {}), {})).toThrow(
    `several configuration files: ${dir}/signalbox.yaml, ${dir}/signalbox.json`,
  );
});

it("does not treat an unreadable file as missing", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-home-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  symlinkSync("signalbox.yaml", join(dir, "signalbox.yaml"));
  expect(() => readConfig(locateHome(dir, {}), {})).toThrow(`${dir}/signalbox.yaml cannot be read: `);
});
