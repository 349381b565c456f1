import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { prepareHome } from "./folders.ts";
import { locateHome } from "./layout.ts";

it("creates a home with its parents, accessible to its owner only", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-home-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const home = locateHome(join(dir, "a", "b"), {});
  prepareHome(home);
  prepareHome(home);
  expect((statSync(home.dir).mode & 0o777).toString(8)).toBe("700");
});

it("refuses a home where no folders can be created", () => {
  const refused = `
    import { prepareHome } from ${JSON.stringify(new URL("folders.ts", import.meta.url).href)};
    import { locateHome } from ${JSON.stringify(new URL("layout.ts", import.meta.url).href)};
    try { prepareHome(locateHome("/proc/x/y", {})); } catch (error) { console.log(error.code); }`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "--eval", refused], {
    encoding: "utf8",
  });
  expect(stdout.trim()).toBe("cannot_write");
});
