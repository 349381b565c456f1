import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import {
  convertCssVariables,
  DEFAULT_THEME,
  defaultCssVariablesResolver,
  mergeMantineTheme,
} from "@mantine/core";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";
import { cssVariables, theme } from "./src/theme.ts";

/** The gateway to which the development server proxies requests. */
const gateway = process.env["SIGNALBOX_URL"] ?? "http://127.0.0.1:4747";

const TEMML = fileURLToPath(import.meta.resolve("temml/dist/temml.js"));

/** Build of Temml without chemistry, which is a sixth of its size. The build is a script, not a module. */
const temmlAlone: Plugin = {
  name: "temml-alone",
  enforce: "pre",
  resolveId: { filter: { id: /^temml$/ }, handler: () => TEMML },
  transform: {
    filter: { id: /\/temml\/dist\/temml\.js$/ },
    handler: (code) => `${code}\nexport default temml;`,
  },
};

const VARIABLES = join(import.meta.dirname, "src", "theme-variables.css");

/**
 * Generates the style sheet with the CSS variables of the theme. By default the component library injects them as a
 * style element, which the content security policy forbids.
 */
const themeVariables: Plugin = {
  name: "theme-variables",
  enforce: "pre",
  resolveId: { filter: { id: /^virtual:theme-variables\.css$/ }, handler: () => VARIABLES },
  load: {
    filter: { id: /\/src\/theme-variables\.css$/ },
    handler() {
      const merged = mergeMantineTheme(DEFAULT_THEME, theme);
      const defaults = defaultCssVariablesResolver(merged);
      const own = cssVariables(merged);
      return convertCssVariables({
        variables: { ...defaults.variables, ...own.variables },
        light: { ...defaults.light, ...own.light, "--mantine-color-scheme": "light" },
        dark: { ...defaults.dark, ...own.dark, "--mantine-color-scheme": "dark" },
      });
    },
  },
};

const LARGEST = { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } };

/**
 * Also writes each script and style compressed, so that the gateway does not compress them for each request. Runs after
 * the bundle has been written, because other plugins change files until then.
 */
const compressed: Plugin = {
  name: "compressed",
  // Tests read the files of a build that is not minified only once, and compressing them takes longer than building.
  apply: ({ build }, { command }) => command === "build" && build?.minify !== false,
  async writeBundle({ dir = "" }, bundle) {
    const compress = async (fileName: string) => {
      const path = join(dir, fileName);
      const content = await readFile(path);
      await writeFile(`${path}.br`, await promisify(brotliCompress)(content, LARGEST));
      await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
    };
    const names = Object.keys(bundle).filter((name) => /\.(js|css)$/.test(name));
    // All cores compress files at the same time.
    await Promise.all(names.map(compress));
  },
};

export default defineConfig({
  plugins: [temmlAlone, themeVariables, react(), compressed],
  build: {
    target: "es2023",
    // The style sheets use `light-dark()`.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // The content security policy forbids inline assets, so small assets are files too.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Loads only the icons and components that are imported, which are a sixth of all modules.
      experimental: { lazyBarrel: true },
      output: {
        // One file for the libraries of the first load: many small files compress badly.
        codeSplitting: { groups: [{ name: "first", test: /node_modules/, tags: ["$initial"] }] },
      },
    },
  },
  server: { proxy: { "/api": gateway, "/ws": { target: gateway, ws: true } } },
});
