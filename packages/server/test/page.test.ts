import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import { expect, it, onTestFinished } from "vitest";
import { openServer } from "./harness.ts";
import { createMemoryService } from "./memory-service.ts";

const SCRIPT = "console.log('the page');\n".repeat(50);

/** Sends a request and returns the raw body, which `fetch` would decompress. */
function get(
  url: string,
  accepts?: string,
): Promise<{ headers: NodeJS.Dict<string | string[]>; body: Buffer }> {
  return new Promise((resolve, reject) => {
    const headers = accepts === undefined ? {} : { "accept-encoding": accepts };
    request(url, { headers }, async (response) => {
      const body = Buffer.concat(await response.toArray());
      resolve({ headers: response.headers, body });
    })
      .on("error", reject)
      .end();
  });
}

it("serves precompressed files to browsers that accept them", async () => {
  const dir = await mkdtemp(join(tmpdir(), "signalbox-page-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  await mkdir(join(dir, "assets"));
  await writeFile(join(dir, "index.html"), "<!doctype html>");
  await writeFile(join(dir, "assets/page.js"), SCRIPT);
  await writeFile(join(dir, "assets/page.js.br"), brotliCompressSync(SCRIPT));
  await writeFile(join(dir, "assets/page.js.gz"), gzipSync(SCRIPT));
  const { url } = await openServer(createMemoryService(), { pageDir: dir });

  const script = (accepts?: string) => get(`${url}/assets/page.js`, accepts);
  const smallest = await script("gzip, deflate, br");
  expect(smallest.headers).toMatchObject({
    "content-encoding": "br",
    "content-type": "text/javascript; charset=utf-8",
    vary: "accept-encoding",
  });
  expect(brotliDecompressSync(smallest.body).toString()).toBe(SCRIPT);
  const zipped = await script("gzip, br;q=0");
  expect(zipped.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(zipped.body).toString()).toBe(SCRIPT);
  for (const accepts of [undefined, "identity", "br;q=0.0, zstd"]) {
    const plain = await script(accepts);
    expect(plain.headers["content-encoding"]).toBeUndefined();
    expect(plain.body.toString()).toBe(SCRIPT);
  }
  const page = await get(url, "br, gzip");
  expect(page.headers["content-encoding"]).toBeUndefined();
  expect(page.body.toString()).toBe("<!doctype html>");
});

it("answers 404 for a path without a file", async () => {
  const dir = await mkdtemp(join(tmpdir(), "signalbox-page-"));
  onTestFinished(() => rm(dir, { recursive: true }));
  await writeFile(join(dir, "index.html"), "<!doctype html>");
  const { url } = await openServer(createMemoryService(), { pageDir: dir });
  for (const path of ["/nothing", "/assets/nothing.js", "/..%2fetc/passwd"])
    expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 404]);
});
