import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import {
  appendFileSync,
  chownSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A PostgreSQL server of a test run, in a temporary folder. */
export interface PostgresServer {
  readonly port: number;
  /** The id of the postmaster. */
  readonly pid: number;
  /** Returns the URL of a database on this server. Default: `postgres`. */
  url(database?: string): string;
  /** Ends the server without a checkpoint, like `pg_ctl stop -m immediate`, so that the next start recovers. */
  kill(): Promise<void>;
  /** Starts the server again after `kill`, on the same port. Resolves when it accepts connections. */
  start(): Promise<void>;
  /** Starts a server that replicates this one under the application name `standby`. */
  startStandby(): Promise<PostgresServer>;
  /** Makes a standby accept writes. */
  promote(): Promise<void>;
  /** Ends the server and removes its folder. */
  stop(): Promise<void>;
}

/** Names of the users that Debian creates and under which a test of root can run the server. */
const USERS = ["postgres", "nobody"];
/** The text of the log when a server or a standby accepts connections. */
const READY = /database system is ready to accept (?:read-only )?connections/;

/** The programs of an installed server and the user that runs them. */
interface Installation {
  readonly bin: string;
  /** Absent if it is the user of this process. */
  readonly user: { readonly uid: number; readonly gid: number } | undefined;
}

/** Returns the folder with `initdb` and `postgres`, if they are installed. */
function findBinaries(): string | undefined {
  const debian = globSync("/usr/lib/postgresql/*/bin").toSorted((a, b) => versionOf(b) - versionOf(a));
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...debian];
  const found = folders.find(
    (folder) => existsSync(join(folder, "initdb")) && existsSync(join(folder, "postgres")),
  );
  // A folder of the path may have links to some of the programs only.
  return found === undefined ? undefined : dirname(realpathSync(join(found, "postgres")));
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
  const installation: Installation = { bin, user };
  const folder = createFolder(installation);
  try {
    const options = ["--username", "signalbox", "--auth", "trust", "--encoding", "UTF8", "--no-locale"];
    await runIn(installation, folder, "initdb", ["--pgdata", join(folder, "data"), ...options]);
    configure(folder, [
      "listen_addresses = '127.0.0.1'",
      "max_connections = 200",
      "shared_buffers = 32MB",
      "deadlock_timeout = 100ms",
      "wal_keep_size = 128MB",
    ]);
    return await startIn(installation, folder);
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    return `the server did not start: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function createFolder({ user }: Installation): string {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-postgres-"));
  if (user !== undefined) chownSync(folder, user.uid, user.gid);
  return folder;
}

/** The last value of a setting counts. */
function configure(folder: string, settings: readonly string[]): void {
  appendFileSync(join(folder, "data", "postgresql.auto.conf"), `${settings.join("\n")}\n`);
}

async function runIn(
  { bin, user }: Installation,
  folder: string,
  program: string,
  args: readonly string[],
): Promise<void> {
  await run(join(bin, program), args, { ...user, cwd: folder });
}

/** Starts a server on the data in a folder. */
async function startIn(installation: Installation, folder: string): Promise<PostgresServer> {
  const port = await findPort();
  const data = join(folder, "data");
  configure(folder, [`port = ${port}`, `unix_socket_directories = '${folder}'`]);
  let postmaster: Postmaster | undefined = await startPostmaster(installation, folder);

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ending = postmaster;
    postmaster = undefined;
    ending?.process.kill(signal);
    await ending?.ended;
  }

  return {
    port,
    get pid() {
      return postmaster?.process.pid ?? 0;
    },
    url: (database = "postgres") => `postgres://signalbox@127.0.0.1:${port}/${database}`,
    kill: () => end("SIGQUIT"),
    async start() {
      postmaster ??= await startPostmaster(installation, folder);
    },
    async startStandby() {
      const copy = createFolder(installation);
      const source = `host=127.0.0.1 port=${port} user=signalbox application_name=standby`;
      const how = ["--write-recovery-conf", "--checkpoint=fast", "--wal-method=stream"];
      const args = ["--pgdata", join(copy, "data"), "--dbname", source, ...how];
      await runIn(installation, copy, "pg_basebackup", args);
      return startIn(installation, copy);
    },
    promote: () => runIn(installation, folder, "pg_ctl", ["promote", "--wait", "--pgdata", data]),
    async stop() {
      // Ends without waiting for connections.
      await end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Postmaster {
  readonly process: ChildProcess;
  readonly ended: Promise<void>;
}

/** @throws Error with the log if the server does not start */
async function startPostmaster({ bin, user }: Installation, folder: string): Promise<Postmaster> {
  const data = join(folder, "data");
  const server = spawn(join(bin, "postgres"), ["-D", data], {
    ...user,
    cwd: folder,
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  let isReady = false;
  server.stderr?.on("data", (chunk) => {
    // The log of a running server is not needed, and it grows.
    if (isReady) return;
    log += String(chunk);
    isReady = READY.test(log);
  });
  const ended = new Promise<void>((resolve) => server.once("exit", () => resolve()));
  while (!isReady && server.exitCode === null && server.signalCode === null) await sleep(20);
  if (!isReady) throw new Error(log);
  return { process: server, ended };
}

/** Below the ephemeral ports, so that the system gives the port to no other test while the server does not run. */
const PORTS = { min: 20_000, max: 32_000 };

async function findPort(): Promise<number> {
  const port = randomInt(PORTS.min, PORTS.max);
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve, reject) => {
    probe.once("error", (error: NodeJS.ErrnoException) =>
      error.code === "EADDRINUSE" ? resolve(false) : reject(error),
    );
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
  return isFree ? port : findPort();
}
