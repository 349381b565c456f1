// Installs every package from its tarball into an empty folder, as another project would. There it runs the first
// example of each README under each supported Node.js, runs an agent with a tool against a fake OpenAI server, and
// compiles all examples.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { packAll, pnpmCommand, root, run } from "./workspace.mjs";

/** A Node.js version between the oldest one, which each package's `engines` names, and the pinned one. */
const BETWEEN = "24.21.0";

/**
 * Packages with the Node.js binary. The package `node`, which selects one for the platform, needs an install script.
 */
const NODE = process.platform === "linux" ? `node-linux-${process.arch}` : "node";

/** Packages that install commands of READMEs name in addition to our own. */
const BESIDE = { zod: "^4" };

/** Expected output of examples. Any other example must print something. */
const PRINTS = {
  "agent-core": /clock \[[\s\S]*It is late there\./,
  channel: /^-> \S+ \S/m,
  prompt: /^true$[\s\S]*List the files, please[\s\S]*out\/plot\.png/m,
  routing: /agent:coder:direct:alice[\s\S]*binding\.peer/,
  skills: /weather[\s\S]*\/weather/,
};

/** Maximum number of lines of the example of an agent with a tool. */
const AGENT_LINES = 15;

const folder = mkdtempSync(join(tmpdir(), "signalbox-readme-"));
const project = join(folder, "project");
let failures = 0;
try {
  const packages = await packAll(folder);
  await install(packages);
  for (const { name, folder: source, manifest } of packages) {
    const example = examplesOf(source)[0];
    if (example === undefined) {
      report(name, "its README has no ```ts example");
      continue;
    }
    writeProgram(name, example);
    for (const version of supported(manifest)) {
      const { code, output } = await runExample(name, version);
      const prints = PRINTS[name] ?? /\S/;
      report(`${name} on Node.js ${version}`, code === 0 && prints.test(output) ? undefined : output);
    }
  }
  await tryAgent(packages.find(({ name }) => name === "llm-providers"));
  for (const { name, folder: source } of packages) writeExamples(name, examplesOf(source));
  await compileExamples();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

/** Installs our tarballs together with the vendors' SDKs, as the install commands of READMEs do. */
async function install(packages) {
  const overrides = Object.fromEntries(
    packages.map(({ manifest, tarball }) => [manifest.name, `file:${tarball}`]),
  );
  const peers = Object.fromEntries(
    packages
      .flatMap(({ manifest }) => Object.entries(manifest.peerDependencies ?? {}))
      .filter(([name]) => !(name in overrides)),
  );
  const versions = packages.flatMap(({ manifest }) => supported(manifest));
  const nodes = Object.fromEntries(versions.map((version) => [`node-${version}`, `npm:${NODE}@${version}`]));
  const dependencies = { ...overrides, ...nodes, ...peers, ...BESIDE };
  mkdirSync(project);
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ private: true, type: "module", dependencies }),
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
  const installed = await run(program, [...first, "install"], { cwd: project });
  if (installed.code !== 0) throw new Error(`pnpm install of the tarballs failed:\n${installed.output}`);
}

/** Runs the README's agent with a tool. The fake model calls the tool and receives its result. */
async function tryAgent({ folder: source, manifest }) {
  const example = examplesOf(source).find((text) => text.includes("new Agent("));
  const lines = example?.split("\n").filter((line) => line.trim() !== "").length ?? Number.POSITIVE_INFINITY;
  report(`an agent in ${lines} lines`, lines < AGENT_LINES ? undefined : `${AGENT_LINES} are too many`);
  const stated = /baseUrl: "([^"]+)"/.exec(example ?? "")?.[1] ?? "";
  const { startOpenAI } = await import(
    pathToFileURL(join(project, "node_modules", "@signalbox", "testkit", "dist", "openai", "index.js")).href
  );
  for (const version of supported(manifest)) {
    const server = await startOpenAI({
      script: [{ toolCalls: [{ name: "clock", input: {} }] }, { text: "It is tea time." }],
    });
    writeProgram("agent", example.replace(stated, server.baseUrl));
    const { code, output } = await runExample("agent", version);
    await server.stop();
    const told = server.requests.at(-1)?.text ?? "";
    const isWhole =
      code === 0 && output.includes("It is tea time.") && /"tool"[\s\S]*\d{4}-\d\d-\d\dT/.test(told);
    report(`an agent with a tool on Node.js ${version}`, isWhole ? undefined : `${output}\n${told}`);
  }
}

/**
 * Returns every example of a README as a file. An example without imports continues the one before it. Examples of
 * tests, and of files next to others, are omitted, because they refer to files of the reader.
 */
function writeExamples(name, examples) {
  mkdirSync(join(project, "examples"), { recursive: true });
  const files = [];
  for (const text of examples) {
    if (/from "(?:vitest|\.)/.test(text)) continue;
    if (/^import /m.test(text) || files.length === 0) files.push(text);
    else files.push(`${files.pop()}{\n${text}}\n`);
  }
  for (const [at, text] of files.entries())
    writeFileSync(join(project, "examples", `${name}-${at + 1}.mts`), text);
}

/** Compiles the examples against the types of the installed packages. */
async function compileExamples() {
  const compilerOptions = {
    target: "es2024",
    lib: ["es2024", "dom"],
    module: "nodenext",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"],
    typeRoots: [join(root, "node_modules", "@types")],
  };
  writeFileSync(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["examples"] }));
  const tsc = join(root, "node_modules", ".bin", "tsc");
  const { code, output } = await run(tsc, ["-p", project], { cwd: project });
  report("all examples compile", code === 0 ? undefined : output);
}

/** Strips the types once, so that not every start has to. */
function writeProgram(name, example) {
  writeFileSync(join(project, `${name}.mjs`), stripTypeScriptTypes(example));
}

function runExample(name, version) {
  const node = join(project, "node_modules", `node-${version}`, "bin", "node");
  // All starts share their compiled code in this cache.
  const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") };
  return run(node, [`${name}.mjs`], { cwd: project, timeout: 60_000, env });
}

function report(what, wrong) {
  if (wrong !== undefined) failures++;
  console.log(wrong === undefined ? `ok   ${what}` : `FAIL ${what}\n${wrong}`);
}

/** Returns the examples of a package's README in order. */
function examplesOf(source) {
  const readme = join(source, "README.md");
  if (!existsSync(readme)) return [];
  return [...readFileSync(readme, "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
}

/** Returns the Node.js versions with which a package is tested. */
function supported({ name, engines }) {
  const oldest = /^>=(\d+\.\d+)$/.exec(engines.node)?.[1];
  if (oldest === undefined)
    throw new Error(`${name} says in engines "${engines.node}"; ">=22.12" is what can be tried.`);
  return [`${oldest}.0`, BETWEEN];
}
