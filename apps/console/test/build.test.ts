import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPage, SHIPPED } from "./chromium.ts";

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
  it("is reproducible, small and complies with the content security policy", async () => {
    const files = await filesOf(SHIPPED);
    expect(await filesOf(await buildPage(folder, "production"))).toEqual(files);

    const html = files["/index.html"] ?? "";
    expect(html).not.toMatch(/<script(?![^>]* src="\/assets\/)|<style| style=| on\w+=/);
    const addresses = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses.filter((each) => !each?.startsWith("/assets/"))).toEqual([]);

    const scripts = Object.entries(files).filter(([name]) => name.endsWith(".js"));
    const compressed = await Promise.all(
      scripts.map(async ([name, text]) => {
        const brotli = await readFile(join(SHIPPED, `${name}.br`));
        const gzip = await readFile(join(SHIPPED, `${name}.gz`));
        // The compressed files contain the same script.
        expect(brotliDecompressSync(brotli).toString() === text, name).toBe(true);
        expect(gunzipSync(gzip).toString() === text, name).toBe(true);
        return { name, brotli: brotli.length, gzip: gzip.length };
      }),
    );
    const sizeOf = (list: typeof compressed, how: "brotli" | "gzip") =>
      list.reduce((sum, script) => sum + script[how], 0);
    const first = compressed.filter(({ name }) => html.includes(name));
    expect(sizeOf(first, "brotli")).toBeLessThan(125_000);
    expect(sizeOf(compressed, "brotli")).toBeLessThan(200_000);
    // Without TLS, browsers accept only gzip. The formula renderer is loaded on demand.
    const withoutFormulas = compressed.filter(({ name }) => !name.includes("/temml-"));
    expect(withoutFormulas).toHaveLength(compressed.length - 1);
    expect(sizeOf(first, "gzip")).toBeLessThan(140_000);
    expect(sizeOf(withoutFormulas, "gzip")).toBeLessThan(180_000);
    for (const [, text] of scripts) expect(text).not.toMatch(/\beval\(|new Function/);
    // Only the client uses `localStorage`, for the session key.
    expect(scripts.flatMap(([, text]) => text.match(/localStorage/g) ?? [])).toHaveLength(1);
  });
});
