import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type Home, locateHome } from "../layout.ts";
import { getStoreSettings, getStoreUrl } from "./store-url.ts";

function homeWith(config: string): Home {
  const dir = mkdtempSync(join(tmpdir(), "signalbox-store-url-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "signalbox.yaml"), config);
  return locateHome(dir, {});
}

const URL = "postgres://localhost/signalbox";

test("the database is a file unless the configuration names another one", () => {
  expect(getStoreUrl(homeWith("agents: { list: [{ id: main }] }"), {})).toBeUndefined();
  expect(getStoreUrl(homeWith("store: {}"), {})).toBeUndefined();
  expect(getStoreUrl(homeWith("store: { url: '${DATABASE}' }"), { DATABASE: URL })).toBe(URL);
  expect(getStoreUrl(homeWith(`{"store": {"url": "${URL}"}}`), {})).toBe(URL);
});

test("commands read the address of the database from a file or a program", () => {
  const home = homeWith("store: { url: { file: db.url }, hints: false }");
  writeFileSync(join(home.dir, "db.url"), `${URL}\n`, { mode: 0o600 });
  expect(getStoreSettings(home, {})).toEqual({ url: URL, hints: false });
  const program = JSON.stringify([process.execPath, "-p", JSON.stringify(URL)]);
  expect(getStoreUrl(homeWith(`store: { url: { command: ${program} } }`), {})).toBe(URL);
});

test("commands do not fall back to the file if the address of the database is wrong", () => {
  const wrong = () => getStoreUrl(homeWith("store: { url: '${DATABASE}' }"), {});
  expect(wrong).toThrow("DATABASE is not set");
  expect(wrong).toThrow(expect.objectContaining({ code: "config" }));
});
