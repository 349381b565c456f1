import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage, SHIPPED } from "./chromium.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "signalbox-console-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Every file of a build by name. */
async function filesOf(outDir: string): Promise<Record<string, string>> {
  const files = await readdir(outDir, { recursive: true, withFileTypes: true });
  const entries = files
    .filter((file) => file.isFile())
    .map(async (file): Promise<[string, string]> => {
      const path = join(file.parentPath, file.name);
      return [path.slice(outDir.length), await readFile(path, "utf8")];
    });
  return Object.fromEntries(await Promise.all(entries));
}

describe("the build", () => {
  it("gives the same files each time, small, and nothing that the content policy forbids", async () => {
    const files = await filesOf(SHIPPED);
    expect(await filesOf(await buildPage(folder, "production"))).toEqual(files);

    const html = files["/index.html"] ?? "";
    expect(html).not.toMatch(/<script(?![^>]* src="\/assets\/)|<style| style=| on\w+=/);
    expect([...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address)).toSatisfy(
      (addresses: string[]) =>
        addresses.length === 3 && addresses.every((each) => each.startsWith("/assets/")),
    );

    const scripts = Object.entries(files).filter(([name]) => name.endsWith(".js"));
    const sizeOf = (list: typeof scripts) => list.reduce((sum, [, text]) => sum + gzipSync(text).length, 0);
    expect(sizeOf(scripts.filter(([name]) => html.includes(name)))).toBeLessThan(110_000);
    const [formulas, others] = [/\/temml-/, /\/(?!temml-)[^/]*$/].map((name) =>
      scripts.filter(([path]) => name.test(path)),
    );
    expect(sizeOf(others ?? [])).toBeLessThan(150_000);
    // What shows formulas is loaded where there is one.
    expect(sizeOf(formulas ?? [])).toBeGreaterThan(0);
    expect(sizeOf(scripts)).toBeLessThan(200_000);
    for (const [, text] of scripts) expect(text).not.toMatch(/sessionStorage|\beval\(|new Function/);
    // One place keeps something there: the client, the key of the session.
    expect(scripts.flatMap(([, text]) => text.match(/localStorage/g) ?? [])).toHaveLength(1);
  });
});
