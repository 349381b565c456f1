import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { locateHome } from "./layout.ts";
import { isLoopback, tokenBesideConfig } from "./token.ts";

it("recognizes loopback addresses", () => {
  expect(["127.0.0.1", "127.9.9.9", "::1", "localhost"].every(isLoopback)).toBe(true);
  expect(["0.0.0.0", "::", "192.0.2.1", "127.0.0.1.evil.example"].some(isLoopback)).toBe(false);
});

it("refuses a short or unreadable token in the home without changing it", () => {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-token-"));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const home = locateHome(dir, {});
  expect(tokenBesideConfig(home, {})).toBeUndefined();
  writeFileSync(home.tokenFile, "short\n");
  expect(() => tokenBesideConfig(home, {})).toThrow(
    `${home.tokenFile}: the token is shorter than 16 characters.`,
  );
  expect(readFileSync(home.tokenFile, "utf8")).toBe("short\n");
  writeFileSync(home.tokenFile, "");
  expect(tokenBesideConfig(home, {})).toBeUndefined();
  rmSync(home.tokenFile);
  mkdirSync(home.tokenFile);
  expect(() => tokenBesideConfig(home, {})).toThrow(`${home.tokenFile} cannot be read: EISDIR`);
});
