import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Home, locateHome } from "./layout.ts";
import { restrictHome } from "./permissions.ts";

function homeOf(mode: number): Home {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-home-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "signalbox.yaml"), "gateway: {}\n");
  chmodSync(dir, mode);
  return locateHome(dir, {});
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8);

describe("restrictHome", () => {
  it("removes the access of other users and reports it", () => {
    const home = homeOf(0o755);
    writeFileSync(home.tokenFile, "token\n");
    chmodSync(home.tokenFile, 0o644);
    chmodSync(home.configFile, 0o664);
    const found = restrictHome(home).map(({ path, mode, fixed }) => [path, mode, fixed]);
    expect(found).toEqual([
      [home.dir, "755", true],
      [home.configFile, "664", true],
      [home.tokenFile, "644", true],
    ]);
    expect([home.dir, home.configFile, home.tokenFile].map(modeOf)).toEqual(["700", "600", "600"]);
    expect(restrictHome(home)).toEqual([]);
  });

  it.each(["memory", "secrets", "config-history"])("restricts %s/", (name) => {
    const home = homeOf(0o700);
    const folder = join(home.dir, name);
    mkdirSync(folder);
    chmodSync(folder, 0o755);
    expect(restrictHome(home)).toContainEqual({ path: folder, mode: "755", fixed: true });
    expect(modeOf(folder)).toBe("700");
  });

  it("restricts the log of the service", () => {
    const home = homeOf(0o700);
    const file = join(home.dir, "service.log");
    writeFileSync(file, "");
    chmodSync(file, 0o644);
    expect(restrictHome(home)).toContainEqual({ path: file, mode: "644", fixed: true });
    expect(modeOf(file)).toBe("600");
  });

  it("keeps files that only the owner can read", () => {
    const home = homeOf(0o700);
    mkdirSync(home.mediaDir, { mode: 0o700 });
    chmodSync(home.configFile, 0o400);
    expect(restrictHome(home)).toEqual([]);
    expect(modeOf(home.configFile)).toBe("400");
  });

  it("reports files of other users and refuses those that they can write", ({ skip }) => {
    if (process.getuid?.() !== 0) return skip("files of others, which the superuser alone can make");
    const home = homeOf(0o700);
    chownSync(home.configFile, 65_534, 65_534);
    chmodSync(home.configFile, 0o644);
    expect(restrictHome(home)).toEqual([{ path: home.configFile, mode: "644", fixed: false }]);
    chmodSync(home.configFile, 0o666);
    expect(() => restrictHome(home)).toThrow(
      /signalbox.yaml belongs to another user and can be written by others/,
    );
  });
});
