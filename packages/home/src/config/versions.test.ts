import { lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { locateHome } from "../layout.ts";
import { changeConfig } from "./edit.ts";
import { configVersions } from "./versions.ts";

it("replaces the target of a link and keeps the previous version in the home", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-home-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const elsewhere = join(dir, "dotfiles", "mine.yaml");
  mkdirSync(join(dir, "dotfiles"));
  writeFileSync(elsewhere, "gateway: { port: 1 }\n");
  mkdirSync(join(dir, "home"));
  symlinkSync(elsewhere, join(dir, "home", "signalbox.yaml"));
  const home = locateHome(join(dir, "home"), {});
  changeConfig(home, {}, [{ path: ["gateway", "port"], value: 2 }], new Date());
  expect(readFileSync(elsewhere, "utf8")).toBe("gateway: { port: 2 }\n");
  expect(lstatSync(home.configFile).isSymbolicLink()).toBe(true);
  expect(configVersions(home).map(({ file }) => readFileSync(file, "utf8"))).toEqual([
    "gateway: { port: 1 }\n",
  ]);
});

it("keeps each version of several changes in one millisecond", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-home-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(dir, {});
  const now = new Date();
  for (const port of [1, 2, 3]) changeConfig(home, {}, [{ path: ["gateway", "port"], value: port }], now);
  expect(configVersions(home).map(({ file }) => readFileSync(file, "utf8"))).toEqual([
    "gateway:\n  port: 2\n",
    "gateway:\n  port: 1\n",
  ]);
});
