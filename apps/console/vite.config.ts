import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** The gateway to which the development server proxies requests. */
const gateway = process.env["SIGNALBOX_URL"] ?? "http://127.0.0.1:4747";

const TEMML = fileURLToPath(import.meta.resolve("temml/dist/temml.js"));

/** Build of Temml without chemistry, which is a sixth of its size. The build is a script, not a module. */
const temmlAlone: Plugin = {
  name: "temml-alone",
  enforce: "pre",
  resolveId: (id) => (id === "temml" ? TEMML : null),
  transform: (code, id) => (id === TEMML ? `${code}\nexport default temml;` : null),
};

const LARGEST = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

/**
 * Also writes each script and style compressed, so that the gateway does not compress them for each request. Runs after
 * the bundle has been written, because other plugins change files until then.
 */
const compressed: Plugin = {
  name: "compressed",
  apply: "build",
  async writeBundle({ dir = "" }, bundle) {
    for (const fileName of Object.keys(bundle).filter((name) => /\.(js|css)$/.test(name))) {
      const path = join(dir, fileName);
      const content = await readFile(path);
      await writeFile(`${path}.br`, brotliCompressSync(content, LARGEST));
      await writeFile(`${path}.gz`, gzipSync(content, { level: 9 }));
    }
  },
};

export default defineConfig({
  plugins: [temmlAlone, react(), compressed],
  build: {
    target: "es2023",
    // The content security policy forbids inline assets, so small assets are files too.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": gateway, "/ws": { target: gateway, ws: true } } },
});
