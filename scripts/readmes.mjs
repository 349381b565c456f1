// Installs every package from its tarball into an empty folder, as somebody else's project would, runs the first
// example of each README there, under each supported Node.js, and has the compiler read all of them.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { packAll, pnpmCommand, root, run } from "./workspace.mjs";

/** The Node.js line between the oldest one, which each package's `engines` promise, and the pinned one. */
const BETWEEN = "24.21.0";

/** What install lines of READMEs name beside our own packages. */
const BESIDE = { zod: "^4" };

const folder = mkdtempSync(join(tmpdir(), "signalbox-readme-"));
let failures = 0;
try {
  const packages = await packAll(folder);
  const overrides = Object.fromEntries(
    packages.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`]),
  );
  // As install lines say: the SDKs of vendors come beside our own packages.
  const peers = Object.fromEntries(
    packages
      .flatMap(({ manifest }) => Object.entries(manifest.peerDependencies ?? {}))
      .filter(([name]) => !(name in overrides)),
  );
  const project = join(folder, "project");
  const versions = packages.flatMap(({ manifest }) => supported(manifest));
  const nodes = Object.fromEntries(versions.map((version) => [`node-${version}`, `npm:node@${version}`]));
  await run("mkdir", ["-p", project]);
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({
      private: true,
      type: "module",
      dependencies: { ...overrides, ...nodes, ...peers, ...BESIDE },
    }),
  );
  const settings = [
    "overrides:",
    ...Object.entries(overrides).map(([name, file]) => `  "${name}": "${file}"`),
    "allowBuilds:",
    "  node: true",
    "  protobufjs: false",
  ];
  writeFileSync(join(project, "pnpm-workspace.yaml"), `${settings.join("\n")}\n`);
  const [program, ...first] = pnpmCommand();
  const install = await run(program, [...first, "install"], { cwd: project });
  if (install.code !== 0) throw new Error(`pnpm install of the tarballs failed:\n${install.output}`);

  for (const { name, folder: source, manifest } of packages) {
    const readme = join(source, "README.md");
    const example = existsSync(readme) ? firstExample(readFileSync(readme, "utf8")) : undefined;
    if (example === undefined) {
      console.log(`FAIL ${name}: its README has no \`\`\`ts example`);
      failures++;
      continue;
    }
    const file = join(project, `${name}.mts`);
    writeFileSync(file, example);
    for (const version of supported(manifest)) {
      const node = join(project, "node_modules", `node-${version}`, "bin", "node");
      const flags = version.startsWith("22.") ? ["--experimental-strip-types", "--no-warnings"] : [];
      const { code, output } = await run(node, [...flags, file], { cwd: project, timeout: 60_000 });
      const ok = code === 0 && output.trim() !== "";
      if (!ok) failures++;
      console.log(`${ok ? "ok  " : "FAIL"} ${name} on Node.js ${version}${ok ? "" : `\n${output}`}`);
    }
  }

  for (const { name, folder: source } of packages) {
    const readme = join(source, "README.md");
    if (existsSync(readme)) writeExamples(project, name, readFileSync(readme, "utf8"));
  }
  const compiled = await run(join(root, "node_modules", ".bin", "tsc"), ["-p", project], { cwd: project });
  if (compiled.code !== 0) failures++;
  console.log(compiled.code === 0 ? "ok   all examples compile" : `FAIL examples\n${compiled.output}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

function firstExample(markdown) {
  return /^```ts\n([\s\S]*?)^```$/m.exec(markdown)?.[1];
}

/**
 * Every example of a README as a file; one without imports of its own goes on where the one before it ended. Those of
 * tests, and of files beside others, stand for something that their reader has.
 */
function writeExamples(project, name, markdown) {
  const settings = {
    compilerOptions: {
      target: "es2024",
      lib: ["es2024", "dom"],
      module: "nodenext",
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      types: ["node"],
      typeRoots: [join(root, "node_modules", "@types")],
    },
    include: ["examples"],
  };
  mkdirSync(join(project, "examples"), { recursive: true });
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify(settings));
  const files = [];
  for (const [, text] of markdown.matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
    if (/from "(?:vitest|\.)/.test(text)) continue;
    if (/^import /m.test(text) || files.length === 0) files.push(text);
    else files.push(`${files.pop()}{\n${text}}\n`);
  }
  for (const [at, text] of files.entries())
    writeFileSync(join(project, "examples", `${name}-${at + 1}.mts`), text);
}

/** The Node.js versions to try a package on. */
function supported({ name, engines }) {
  const oldest = /^>=(\d+\.\d+)$/.exec(engines.node)?.[1];
  if (oldest === undefined)
    throw new Error(`${name} says in engines "${engines.node}"; ">=22.12" is what can be tried.`);
  return [`${oldest}.0`, BETWEEN];
}
