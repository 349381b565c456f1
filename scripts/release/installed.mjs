import { spawn } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../workspace.mjs";

/** SDK of one channel. */
const WITH = ["grammy"];

/** Installs the gateway in an empty folder, starts it, and requests an answer. */
export async function installGateway(folder, { npmrc }) {
  const project = join(folder, "installed");
  const modules = await install(project, npmrc, ["@signalbox/gateway", ...WITH]);
  const megabytes = sizeOf(modules) / 1e6;
  const largest = listLargest(modules).map(({ name, size }) => `${name} ${(size / 1e6).toFixed(0)}`);
  const home = join(folder, "home");
  mkdirSync(home);
  writeFileSync(join(home, "signalbox.yaml"), "gateway: { port: 0 }\n");
  const environment = { PATH: process.env.PATH, HOME: join(folder, "empty") };
  mkdirSync(environment.HOME, { recursive: true });
  const gateway = await start(join(modules, ".bin", "signalbox"), home, environment);
  try {
    const reply = await ask(gateway.url, gateway.token);
    return `${megabytes.toFixed(0)} MB (${largest.join(", ")}), ready in ${gateway.seconds.toFixed(2)} s, it says ${JSON.stringify(reply.slice(0, 60))}`;
  } finally {
    await gateway.stop();
  }
}

/** Installs single packages in another project, and uses each of them. */
export async function useSinglePackages(folder, { npmrc }) {
  const project = join(folder, "project");
  await install(project, npmrc, ["@signalbox/agent-core", "@signalbox/routing", "@signalbox/channel"]);
  const file = join(project, "use.mjs");
  writeFileSync(
    file,
    `import { Agent } from "@signalbox/agent-core";
import { SCRIPTED_MODEL, scriptedModel } from "@signalbox/agent-core/test";
import { splitText } from "@signalbox/channel";
import * as routing from "@signalbox/routing";

const { stream } = scriptedModel("hello from the registry");
const { text } = await new Agent({ model: SCRIPTED_MODEL, stream }).prompt("hello");
console.log(text, splitText("one two", { unit: "utf16" }).length, Object.keys(routing).length > 0);
`,
  );
  const { code, output } = await run(process.execPath, [file], { cwd: project });
  if (code !== 0 || !output.includes("hello from the registry 1 true")) throw new Error(output);
}

async function install(project, npmrc, packages) {
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  writeFileSync(join(project, ".npmrc"), npmrc);
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const { code, output } = await run("npm", ["install", ...quiet, ...packages], { cwd: project });
  if (code !== 0) throw new Error(`npm install ${packages.join(" ")}\n${output}`);
  return join(project, "node_modules");
}

function start(program, home, env) {
  const started = performance.now();
  const child = spawn(process.execPath, [program, "start", "--home", home], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  const stop = async () => {
    child.kill("SIGTERM");
    await ended;
  };
  return new Promise((resolve, reject) => {
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        said += text;
        const url = /listens on (http:\S+)/.exec(said)?.[1];
        const token = /token[^\n]*?([A-Za-z0-9_-]{40,})/i.exec(said)?.[1];
        if (url === undefined || token === undefined) return;
        resolve({ url, token, stop, seconds: (performance.now() - started) / 1000 });
      });
    void ended.then(() => reject(new Error(`the gateway ended:\n${said}`)));
  });
}

async function ask(url, token) {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({ model: "signalbox/main", messages: [{ role: "user", content: "hello" }] }),
  });
  const body = await response.json();
  const reply = body.choices?.[0]?.message?.content;
  if (!response.ok || !reply) throw new Error(`HTTP ${response.status} ${JSON.stringify(body)}`);
  return reply;
}

/** Returns the largest packages. */
function listLargest(modules) {
  return readdirSync(modules)
    .flatMap((name) =>
      name.startsWith("@") ? readdirSync(join(modules, name)).map((inner) => `${name}/${inner}`) : [name],
    )
    .map((name) => ({ name, size: sizeOf(join(modules, name)) }))
    .toSorted((a, b) => b.size - a.size)
    .slice(0, 3);
}

/** Returns the size on disk in bytes. */
function sizeOf(path) {
  const stat = lstatSync(path);
  if (!stat.isDirectory()) return stat.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}
