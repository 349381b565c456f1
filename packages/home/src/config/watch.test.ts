import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { locateHome } from "../layout.ts";
import { watchConfig } from "./watch.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("reports each change, including earlier ones and a replaced file", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-watch-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(dir, {});
  const watch = watchConfig(home);
  let changes = 0;
  writeFileSync(home.configFile, "gateway: {}\n");
  watch.onChange(() => {
    changes += 1;
  });
  vi.advanceTimersByTime(2_000);
  expect(changes).toBe(1);
  writeFileSync(`${home.configFile}.next`, "gateway: {}\n");
  renameSync(`${home.configFile}.next`, home.configFile);
  vi.advanceTimersByTime(2_000);
  expect(changes).toBe(2);
  watch.stop();
  rmSync(home.configFile);
  vi.advanceTimersByTime(2_000);
  expect(changes).toBe(2);
});

it("reports the first file, whatever its name, and a second one", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-watch-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const watch = watchConfig(locateHome(dir, {}));
  onTestFinished(() => watch.stop());
  const onChange = vi.fn<() => void>();
  watch.onChange(onChange);
  writeFileSync(join(dir, "signalbox.json5"), "{}");
  vi.advanceTimersByTime(1_000);
  expect(onChange).toHaveBeenCalledTimes(1);
  writeFileSync(join(dir, "signalbox.yml"), "{}");
  vi.advanceTimersByTime(1_000);
  expect(onChange).toHaveBeenCalledTimes(2);
});

it("reports a file that becomes inaccessible", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-watch-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const watch = watchConfig(locateHome(dir, {}));
  onTestFinished(() => watch.stop());
  const onChange = vi.fn<() => void>();
  watch.onChange(onChange);
  symlinkSync("signalbox.yaml", join(dir, "signalbox.yaml"));
  vi.advanceTimersByTime(2_000);
  expect(onChange).toHaveBeenCalledTimes(1);
});
