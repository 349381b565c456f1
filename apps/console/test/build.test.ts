import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage, MAX_BUILD_MS, SHIPPED } from "./chromium.ts";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "signalbox-console-"));
});
afterAll(() => rm(folder, { recursive: true }));

/** Returns the files of a build by name. */
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
  it("is reproducible, small and complies with the content security policy", {
    timeout: MAX_BUILD_MS,
  }, async () => {
    const files = await filesOf(SHIPPED);
    expect(await filesOf(await buildPage(folder, "production"))).toEqual(files);

    const html = files["/index.html"] ?? "";
    expect(html).not.toMatch(/<script(?![^>]* src="\/assets\/)|<style| style=| on\w+=/);
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses.filter((each) => !each?.startsWith("/assets/"))).toEqual([]);

    const assets = Object.entries(files).filter(([name]) => /\.(js|css)$/.test(name));
    const compressed = await Promise.all(
      assets.map(async ([name, text]) => {
        const brotli = await readFile(join(SHIPPED, `${name}.br`));
        const gzip = await readFile(join(SHIPPED, `${name}.gz`));
        // The compressed files have the same content.
        expect(brotliDecompressSync(brotli).toString() === text, name).toBe(true);
        expect(gunzipSync(gzip).toString() === text, name).toBe(true);
        return { name, brotli: brotli.length, gzip: gzip.length };
      }),
    );
    const sizeOf = (list: typeof compressed, how: "brotli" | "gzip") =>
      list.reduce((sum, asset) => sum + asset[how], 0);
    // The files that the page loads at once, and those of the chat, which is the first page.
    const first = compressed.filter(({ name }) => html.includes(name) || /\/chat-page-/.test(name));
    expect(first.length).toBeGreaterThan(3);
    // Without TLS, browsers accept only gzip.
    expect(sizeOf(first, "gzip")).toBeLessThan(250_000);
    expect(sizeOf(first, "brotli")).toBeLessThan(220_000);
    // No page adds more than this to the first load. Formulas, code colors and charts are loaded on demand.
    const onDemand = /\/(?:temml|highlight|markdown|chart)-/;
    const others = compressed.filter((asset) => !first.includes(asset) && !onDemand.test(asset.name));
    expect(others.filter(({ gzip }) => gzip > 40_000)).toEqual([]);
    const scripts = assets.filter(([name]) => name.endsWith(".js"));
    for (const [, text] of scripts) expect(text).not.toMatch(/\beval\(|new Function/);
  });
});
