// Generates the API reference of the packages from their sources and comments, one page per entry point, in dist/api.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Application, type ProjectReflection, TSConfigReader } from "typedoc";
import type { PluginOptions } from "typedoc-plugin-markdown";
import { ROOT, readPackages } from "./pages.ts";

const output = join(import.meta.dirname, "..", "dist", "api");

/** Packages without an API for other programs, and the protocol, which the page about the HTTP API documents. */
const EXCLUDED = new Set(["testkit", "create-channel", "protocol"]);

const entryPoints = readPackages()
  .filter((name) => !EXCLUDED.has(name))
  .map((name) => join(ROOT, "packages", name, "src", "index.ts"));

const markdown: Partial<PluginOptions> = {
  outputFileStrategy: "modules",
  entryFileName: "index",
  hideBreadcrumbs: true,
  hidePageHeader: true,
  useCodeBlocks: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  classPropertiesFormat: "table",
  typeDeclarationFormat: "table",
  enumMembersFormat: "table",
  sanitizeComments: true,
  useHTMLAnchors: true,
};

const app = await Application.bootstrapWithPlugins(
  {
    entryPoints,
    tsconfig: join(import.meta.dirname, "..", "tsconfig.api.json"),
    plugin: ["typedoc-plugin-markdown"],
    outputs: [{ name: "markdown", path: output }],
    name: "API of the packages",
    readme: "none",
    basePath: join(ROOT, "packages"),
    disableSources: true,
    excludeInternal: true,
    // Types that one package exports again from another one are documented once.
    excludeExternals: true,
    externalPattern: ["**/node_modules/**", "**/packages/*/dist/**"],
    excludePrivate: true,
    // Types are checked elsewhere.
    skipErrorChecking: true,
    validation: false,
    logLevel: "Error",
    ...markdown,
  },
  [new TSConfigReader()],
);

rmSync(output, { recursive: true, force: true });
const project: ProjectReflection | undefined = await app.convert();
if (project === undefined) throw new Error("TypeDoc could not read the packages");
// A module is named after its package, not after its folder.
for (const module of project.children ?? []) module.name = `@signalbox/${module.name.replace(/\/src$/, "")}`;
await app.generateOutputs(project);
