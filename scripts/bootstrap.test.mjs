import { globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root, workspaceMembers } from "./workspace.mjs";

const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const members = workspaceMembers();

/** Returns the gateway, the console and the packages that they are built from. */
function gatewayMembers() {
  const found = new Map();
  const add = (name) => {
    const member = members.find(({ manifest }) => manifest.name === name);
    if (member === undefined || found.has(name)) return;
    found.set(name, member);
    for (const each of Object.keys(member.manifest.dependencies ?? {})) add(each);
  };
  add("@signalbox/gateway");
  add("@signalbox/console");
  return [...found.values()];
}

/** Returns the names of the packages that a source file imports. */
function importedPackages(text) {
  const statements = text.matchAll(
    /^(?:import|export)\s[\w\s,*{}$]*?\bfrom\s+"([^"]+)"|^import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm,
  );
  return [...statements].flatMap(([, named, bare, loaded]) => {
    const [first, second] = (named ?? bare ?? loaded).split("/");
    const name = first.startsWith("@") ? `${first}/${second}` : first;
    return first.startsWith(".") || first.includes(":") || builtinModules.includes(first) ? [] : [name];
  });
}

// `npm start` and the image install no development dependencies of packages.
it("a checkout without development dependencies has the packages that the build of the gateway imports", () => {
  const missing = gatewayMembers().flatMap(({ folder, manifest }) => {
    const installed = new Set([
      manifest.name,
      ...Object.keys(dependencies),
      ...Object.keys(manifest.dependencies ?? {}),
    ]);
    const isInstalled = (name) => installed.has(name) || installed.has(`@types/${name}`);
    const files = globSync("src/**/*.{ts,tsx}", { cwd: folder }).filter(
      (file) => !/\.test\.tsx?$/.test(file),
    );
    const imported = new Set(
      files.flatMap((file) => importedPackages(readFileSync(join(folder, file), "utf8"))),
    );
    return [...imported]
      .filter((name) => !isInstalled(name))
      .map((name) => `${manifest.name} imports ${name}`);
  });
  expect(missing).toEqual([]);
});

it("a checkout without development dependencies has the types of the packages that the gateway is built from", () => {
  const missing = gatewayMembers().flatMap(({ manifest: { name, devDependencies = {} } }) => {
    // Only tests import a development dependency.
    const isOfTests = (types) => Object.hasOwn(devDependencies, types.slice("@types/".length));
    return Object.keys(devDependencies)
      .filter((each) => each.startsWith("@types/") && !isOfTests(each) && !Object.hasOwn(dependencies, each))
      .map((types) => `${name} needs ${types}`);
  });
  expect(missing).toEqual([]);
});
