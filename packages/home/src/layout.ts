import { existsSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

const CONFIG_NAMES = ["signalbox.yaml", "signalbox.yml", "signalbox.json", "signalbox.json5"];

/** Names of the gateway's files next to the configuration, including those that SQLite creates. */
const STATE_NAMES = [
  ...["signalbox.db", "signalbox.db-wal", "signalbox.db-shm", "signalbox.db-journal"],
  ...["signalbox.lock", "signalbox.lock-journal", "signalbox.holder.json"],
  ...[
    "token",
    "secrets",
    "audit-head.json",
    "last-backup.json",
    "last-crash.json",
    "config-history",
    "skill-pins",
    "node-id",
    "browsers",
  ],
  ...["logs", "service.log", "media", "memory", "backups"],
];

/** Environment variables. */
export type Env = Readonly<Record<string, string | undefined>>;

/** The folder with all files of a gateway. */
export interface Home {
  readonly dir: string;
  /** The configuration file; `signalbox.yaml` if none exists yet. */
  readonly configFile: string;
  readonly databaseFile: string;
  readonly skillsDir: string;
  /** Programs that an owner installed for skills. Commands of agents may run those in its `bin`. */
  readonly programsDir: string;
  /** Held the approvals of skills by owners in earlier versions. The gateway moves them into the database. */
  readonly skillPinsDir: string;
  /** Holds the default workspaces of agents. */
  readonly workspacesDir: string;
  /** Configuration files other than `configFile`. More than one file is an error. */
  readonly otherConfigFiles: readonly string[];
  /** Holds the profiles of the agents' browsers, with their cookies. */
  readonly browsersDir: string;
  /** Holds attachments of unsent replies. */
  readonly mediaDir: string;
  /** The gateway's log, as JSON lines. Rotated files are in the same folder. */
  readonly logFile: string;
  /** Holds the token created at the first start; mode 0600. */
  readonly tokenFile: string;
  /** Holds the id of this node; mode 0600. */
  readonly nodeFile: string;
  /** Holds the head of the audit chain, to detect a truncated log. */
  readonly auditHeadFile: string;
  /** Holds the time and folder of the last backup. */
  readonly backupNoteFile: string;
  /** Holds which process last ended because of an error. */
  readonly crashNoteFile: string;
  /**
   * Paths that no tool may access, wherever an agent's workspace is: the home, each file of the gateway in it, and the
   * compile cache.
   */
  readonly closed: readonly string[];
  /** Returns the default workspace of an agent. */
  workspace(agentId: string): string;
  /** Returns the search index of an agent's memory. The memory itself is in the workspace and the database. */
  memoryIndex(agentId: string): string;
}

/**
 * Returns the home given by `--home`, `$SIGNALBOX_HOME` or `~/.signalbox`, in that order. Empty values are ignored.
 * Creates nothing.
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
    browsersDir: join(dir, "browsers"),
    mediaDir: join(dir, "media"),
    logFile: join(dir, "logs", "gateway.log"),
    tokenFile: join(dir, "token"),
    nodeFile: join(dir, "node-id"),
    auditHeadFile: join(dir, "audit-head.json"),
    backupNoteFile: join(dir, "last-backup.json"),
    crashNoteFile: join(dir, "last-crash.json"),
    // The folder itself protects everything from workspaces that contain it. A workspace that is the folder needs the
    // single names.
    closed: [
      dir,
      ...[...CONFIG_NAMES, ...STATE_NAMES].map((name) => join(dir, name)),
      ...(compiled === undefined ? [] : [compiled]),
    ],
    workspace: (agentId) => join(dir, "workspaces", agentId),
    memoryIndex: (agentId) => join(dir, "memory", `${agentId}.db`),
  };
}

/** Resolves a path of the configuration: `~` is the user's home, and relative paths start at the gateway's home. */
export function configuredPath(home: Pick<Home, "dir">, path: string): string {
  const expanded = expandTilde(path);
  return isAbsolute(expanded) ? expanded : join(home.dir, expanded);
}

function expandTilde(path: string): string {
  return path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path;
}
