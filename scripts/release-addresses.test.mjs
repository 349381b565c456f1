import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { addressesOf, writeAddresses } from "./release/addresses.mjs";

it.each([
  "https://git.example.org/team/box.git",
  "https://git.example.org/team/box/",
  "https://somebody:secret@git.example.org/team/box",
  "git@git.example.org:team/box.git",
  "ssh://git@git.example.org/team/box.git",
])("a package from %s says where it is developed, and nothing that nobody should read", (origin) => {
  expect(addressesOf(origin, "packages/lanes")).toEqual({
    homepage: "https://git.example.org/team/box#readme",
    repository: {
      type: "git",
      url: "git+https://git.example.org/team/box.git",
      directory: "packages/lanes",
    },
  });
});

it.each(["", "/srv/git/box", "file:///srv/git/box", "http://10.0.0.1/box"])(
  "no manifest is written where the repository's address is %j",
  (origin) => {
    const top = mkdtempSync(join(tmpdir(), "addresses-"));
    onTestFinished(() => rmSync(top, { recursive: true }));
    const folder = join(top, "packages", "lanes");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), "{}");
    expect(() => writeAddresses([{ folder }], { origin, top })).toThrow(/git remote add origin/);
    expect(readFileSync(join(folder, "package.json"), "utf8")).toBe("{}");
  },
);
