import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { root, run } from "../workspace.mjs";

const VERDACCIO = "6.10.4";

/**
 * Starts a local registry. It stores packages of our scope in `folder`, and forwards all other requests to npm's
 * configured registry.
 *
 * @returns {Promise<{ url: string, npmrc: string, stop(): Promise<void> }>} `npmrc`: settings with which npm and pnpm
 * use it
 */
export async function startRegistry(folder) {
  const program = await verdaccio();
  const upstream = (await run("npm", ["config", "get", "registry"])).output.trim().split("\n").at(-1);
  const port = await freePort();
  const config = join(folder, "verdaccio.yaml");
  writeFileSync(config, settings(folder, upstream));
  const listen = ["--config", config, "--listen", `127.0.0.1:${port}`];
  const child = spawn(process.execPath, [program, ...listen], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.once("close", resolve));
  let said = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text) => (said += text));
  const url = `http://127.0.0.1:${port}/`;
  const stop = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  try {
    await answering(url, ended);
    const token = await signUp(url);
    return { url, npmrc: `registry=${url}\n//127.0.0.1:${port}/:_authToken=${token}\n`, stop };
  } catch (error) {
    await stop();
    throw new Error(`The registry did not start:\n${said}`, { cause: error });
  }
}

/** Returns the program of an npm package, and downloads it into `.tools` if it is missing. */
async function verdaccio() {
  const folder = join(root, ".tools", `verdaccio-${VERDACCIO}`);
  const program = join(folder, "node_modules", "verdaccio", "bin", "verdaccio");
  if (existsSync(program)) return program;
  mkdirSync(folder, { recursive: true });
  // The package requests node-fetch by a tag, which some mirrors lack.
  const manifest = {
    private: true,
    dependencies: { verdaccio: VERDACCIO },
    overrides: { "node-fetch": "2.7.0" },
  };
  writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
  const { code, output } = await run("npm", ["install", ...quiet, "--prefix", folder]);
  if (code !== 0) throw new Error(`verdaccio could not be fetched:\n${output}`);
  return program;
}

function settings(folder, upstream) {
  return `storage: ${JSON.stringify(join(folder, "storage"))}
auth: { htpasswd: { file: ${JSON.stringify(join(folder, "htpasswd"))} } }
uplinks: { upstream: { url: ${JSON.stringify(upstream)}, maxage: 60m } }
packages:
  "@signalbox/*": { access: $all, publish: $authenticated }
  "**": { access: $all, proxy: upstream }
max_body_size: 100mb
log: { type: stdout, format: pretty, level: warn }
`;
}

async function signUp(url) {
  const name = "rehearsal";
  const body = {
    _id: `org.couchdb.user:${name}`,
    name,
    password: "of-the-rehearsal",
    type: "user",
    roles: [],
  };
  const response = await fetch(`${url}-/user/${encodeURIComponent(body._id)}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const { token } = await response.json();
  if (token === undefined) throw new Error(`The registry gave no token: HTTP ${response.status}`);
  return token;
}

async function answering(url, ended) {
  let isOver = false;
  void ended.then(() => {
    isOver = true;
  });
  for (let tries = 0; tries < 300; tries += 1) {
    if (isOver) throw new Error("it ended");
    if (
      await fetch(`${url}-/ping`).then(
        (response) => response.ok,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("no answer within 30 s");
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
