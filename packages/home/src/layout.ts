import { existsSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

const CONFIG_NAMES = ["signalbox.yaml", "signalbox.yml", "signalbox.json", "signalbox.json5"];

/** What lies beside the configuration: what the gateway keeps and writes, with what SQLite puts next to its files. */
const STATE_NAMES = [
  ...["signalbox.db", "signalbox.db-wal", "signalbox.db-shm", "signalbox.db-journal"],
  ...["signalbox.lock", "signalbox.lock-journal", "signalbox.holder.json"],
  ...["token", "secrets", "audit-head.json", "last-backup.json", "config-history", "skill-pins"],
  ...["logs", "service.log", "media", "memory"],
];

/** Variables of an environment. */
export type Env = Readonly<Record<string, string | undefined>>;

/** The folder that holds everything a gateway keeps. */
export interface Home {
  readonly dir: string;
  /** The configuration file; `signalbox.yaml` where none exists yet. */
  readonly configFile: string;
  readonly databaseFile: string;
  readonly skillsDir: string;
  /** Programs that an owner has installed for skills; commands of agents may run what is in its `bin`. */
  readonly programsDir: string;
  /** Holds which skills owners have approved. */
  readonly skillPinsDir: string;
  /** Holds the default workspaces of agents. */
  readonly workspacesDir: string;
  /** Configuration files besides `configFile`: which one counts must not depend on who wrote last. */
  readonly otherConfigFiles: readonly string[];
  /** Attachments that wait to be sent. */
  readonly mediaDir: string;
  /** The gateway's log, as lines of JSON; older parts are beside it. */
  readonly logFile: string;
  /** Holds the token made on first start; mode 0600. */
  readonly tokenFile: string;
  /** Holds the end of the audit chain, so that a tail that is cut off in the database is missed. */
  readonly auditHeadFile: string;
  /** Holds when and where the last backup was made. */
  readonly backupNoteFile: string;
  /**
   * What no tool may reach, wherever an agent's workspace is: the folder itself, each file of it that is ours, and the
   * compiled code that the process keeps.
   */
  readonly closed: readonly string[];
  /** The default workspace of an agent. */
  workspace(agentId: string): string;
  /** In which an agent's memory is found; the memory itself is in the workspace and the database. */
  memoryIndex(agentId: string): string;
}

/**
 * Where `--home`, `$SIGNALBOX_HOME` or `~/.signalbox` points, in that order; an empty one names nothing. Nothing is
 * made yet.
 */
export function locateHome(option: string | undefined, env: Env): Home {
  const dir = resolve(expandTilde(option || env["SIGNALBOX_HOME"] || join(homedir(), ".signalbox")));
  const [found, ...otherConfigFiles] = CONFIG_NAMES.map((name) => join(dir, name)).filter((file) =>
    existsSync(file),
  );
  const compiled = getCompileCacheDir();
  return {
    dir,
    configFile: found ?? join(dir, "signalbox.yaml"),
    databaseFile: join(dir, "signalbox.db"),
    skillsDir: join(dir, "skills"),
    programsDir: join(dir, "programs"),
    skillPinsDir: join(dir, "skill-pins"),
    workspacesDir: join(dir, "workspaces"),
    otherConfigFiles,
    mediaDir: join(dir, "media"),
    logFile: join(dir, "logs", "gateway.log"),
    tokenFile: join(dir, "token"),
    auditHeadFile: join(dir, "audit-head.json"),
    backupNoteFile: join(dir, "last-backup.json"),
    // The folder closes all of it to workspaces around it; one that is the folder itself needs the names.
    closed: [
      dir,
      ...[...CONFIG_NAMES, ...STATE_NAMES].map((name) => join(dir, name)),
      ...(compiled === undefined ? [] : [compiled]),
    ],
    workspace: (agentId) => join(dir, "workspaces", agentId),
    memoryIndex: (agentId) => join(dir, "memory", `${agentId}.db`),
  };
}

/** A path from the configuration: `~` is the user's home, relative ones start at the gateway's home. */
export function configuredPath(home: Pick<Home, "dir">, path: string): string {
  const expanded = expandTilde(path);
  return isAbsolute(expanded) ? expanded : join(home.dir, expanded);
}

function expandTilde(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}
