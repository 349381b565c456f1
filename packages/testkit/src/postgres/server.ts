import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chownSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A PostgreSQL server of a test run, in a temporary folder. */
export interface PostgresServer {
  readonly port: number;
  /** The id of the postmaster. */
  readonly pid: number;
  /** Returns the URL of a database on this server. Default: `postgres`. */
  url(database?: string): string;
  stop(): Promise<void>;
}

/** Names of the users that Debian creates and under which a test of root can run the server. */
const USERS = ["postgres", "nobody"];

/** Returns the folder with `initdb` and `postgres`, if they are installed. */
function findBinaries(): string | undefined {
  const debian = globSync("/usr/lib/postgresql/*/bin").toSorted((a, b) => versionOf(b) - versionOf(a));
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...debian];
  return folders.find((folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")));
}

const versionOf = (folder: string): number => Number(/\d+/.exec(folder)?.[0] ?? 0);

/** PostgreSQL refuses to run as root. Returns the user to run it as, if this process is root. */
function findUser(): { uid: number; gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  const user = USERS.flatMap((name) => users.filter(([other]) => other === name))[0];
  return user === undefined ? undefined : { uid: Number(user[2]), gid: Number(user[3]) };
}

/** Starts a server with `fsync`. Returns the reason if none can be started. */
export async function startPostgres(): Promise<PostgresServer | string> {
  const bin = findBinaries();
  if (bin === undefined) return "PostgreSQL is not installed (Debian: apt install postgresql)";
  const user = findUser();
  if (process.getuid?.() === 0 && user === undefined) return "PostgreSQL does not run as root";
  const folder = mkdtempSync(join(tmpdir(), "signalbox-postgres-"));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, "data");
  const as = { ...user, cwd: folder };
  const made = spawnSync(
    join(bin, "initdb"),
    ["--pgdata", data, "--username", "signalbox", "--auth", "trust", "--encoding", "UTF8", "--no-locale"],
    { ...as, encoding: "utf8" },
  );
  if (made.status !== 0) return `initdb failed: ${made.stderr}`;
  const port = await findPort();
  writeFileSync(
    join(data, "postgresql.auto.conf"),
    [
      `port = ${port}`,
      "listen_addresses = '127.0.0.1'",
      `unix_socket_directories = '${folder}'`,
      "max_connections = 200",
      "shared_buffers = 32MB",
      "deadlock_timeout = 100ms",
    ].join("\n"),
  );
  const server = spawn(join(bin, "postgres"), ["-D", data], { ...as, stdio: ["ignore", "ignore", "pipe"] });
  const log = collect(server);
  const url = (database = "postgres") => `postgres://signalbox@127.0.0.1:${port}/${database}`;
  const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  const isReady = await waitUntilReady(server, log);
  if (!isReady) return `the server did not start: ${log()}`;
  return {
    port,
    pid: server.pid ?? 0,
    url,
    async stop() {
      // Ends without waiting for connections.
      server.kill("SIGINT");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function collect(server: ChildProcess): () => string {
  let text = "";
  server.stderr?.on("data", (chunk) => {
    text += String(chunk);
  });
  return () => text;
}

async function waitUntilReady(server: ChildProcess, log: () => string): Promise<boolean> {
  while (server.exitCode === null && server.signalCode === null) {
    if (log().includes("database system is ready to accept connections")) return true;
    await sleep(20);
  }
  return false;
}

async function findPort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === "object" && address !== null ? address.port : 0;
}
