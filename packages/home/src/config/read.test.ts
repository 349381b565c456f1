import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { locateHome } from "../layout.ts";
import { readConfig } from "./read.ts";

it("is refused with two configuration files: a second one might be somebody else's", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-home-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "signalbox.json"), "{}");
  expect(readConfig(locateHome(dir, {}), {}).file).toBe(join(dir, "signalbox.json"));
  writeFileSync(join(dir, "signalbox.yaml"), "access: { dm: open }\n");
  expect(() => readConfig(locateHome(dir, {}), {})).toThrow(
    `several configuration files: ${dir}/signalbox.yaml, ${dir}/signalbox.json`,
  );
});
