import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** The gateway that `vite` (the development server) passes requests on to. */
const gateway = process.env["SIGNALBOX_URL"] ?? "http://127.0.0.1:4747";

const TEMML = fileURLToPath(import.meta.resolve("temml/dist/temml.js"));

/** What shows formulas, without its chemistry, which is a sixth of it. That build is a script, and no module. */
const temmlAlone: Plugin = {
  name: "temml-alone",
  enforce: "pre",
  resolveId: (id) => (id === "temml" ? TEMML : null),
  transform: (code, id) => (id === TEMML ? `${code}\nexport default temml;` : null),
};

const LARGEST = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

/**
 * Lays each script and style down compressed as well, so that the gateway can send it like that and need not do it: as
 * they were written, since other plugins change them up to then.
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
    // The gateway's policy forbids inline scripts; small assets stay files, too.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": gateway, "/ws": { target: gateway, ws: true } } },
});
