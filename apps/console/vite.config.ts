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

/** Lays each script and style down compressed as well, so that the gateway can send it like that and need not do it. */
const compressed: Plugin = {
  name: "compressed",
  apply: "build",
  generateBundle(_, bundle) {
    for (const [fileName, file] of Object.entries(bundle)) {
      if (!/\.(js|css)$/.test(fileName)) continue;
      const content = file.type === "chunk" ? file.code : file.source;
      const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };
      this.emitFile({
        type: "asset",
        fileName: `${fileName}.br`,
        source: brotliCompressSync(content, quality),
      });
      this.emitFile({ type: "asset", fileName: `${fileName}.gz`, source: gzipSync(content, { level: 9 }) });
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
