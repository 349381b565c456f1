import { existsSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { GatewayError } from "@signalbox/home";
import { createDatabaseCopies, type DatabaseCopies } from "../database-copy.ts";
import { readConfigurationFile } from "../files.ts";
import type { Item } from "../item.ts";
import { toAgentId } from "../names.ts";
import { convertSchedules } from "../schedules.ts";
import { asRecord, asText, createSettingsReader } from "../settings.ts";
import type { Import, ReadOptions, SourceHome } from "../source.ts";
import { stripPrefix } from "./accounts.ts";
import { findAgents } from "./agents.ts";
import { extractBackup } from "./archive.ts";
import { type Configuration, convertConfiguration } from "./configuration.ts";
import { mapExecApprovals } from "./exec-approvals.ts";
import { findWorkspaces, type Locate, listRest, readFiles } from "./folders.ts";
import { readJobs } from "./jobs.ts";
import { convertSessions, findMainPeople, listGroups } from "./sessions.ts";
import { readDatabaseState, readFileState } from "./state.ts";
import { readDatabaseSessions, readFileSessions, type SourceSession } from "./transcripts.ts";

/** Names of the configuration and the state folder, newest first. */
const CONFIGURATION_NAMES = ["openclaw.json", "clawdbot.json", "moltbot.json"];
/** First version of an agent's database that contains conversations. */
const FIRST_AGENT_VERSION = 4;

/**
 * Reads a home of OpenClaw, or a backup of one.
 *
 * @throws GatewayError if the folder is no home, or if the backup cannot be used
 */
export async function readOpenclaw(options: ReadOptions): Promise<SourceHome> {
  if (!statSync(options.dir).isFile()) return readFolder(options, (path) => path);
  if (options.inPlace)
    throw new GatewayError(
      "usage",
      "--in-place needs a folder: the workspaces of a backup are temporary copies.",
    );
  const backup = extractBackup(options.dir);
  try {
    const source = readFolder({ ...options, dir: backup.stateDir }, backup.locate);
    return {
      ...source,
      dir: options.dir,
      close() {
        source.close();
        backup.close();
      },
    };
  } catch (error) {
    backup.close();
    throw error;
  }
}

function readFolder(options: ReadOptions, locate: Locate): SourceHome {
  const dir = resolve(options.dir);
  const name = CONFIGURATION_NAMES.find((each) => existsSync(join(dir, each)));
  if (name === undefined && !existsSync(join(dir, "agents")))
    throw new GatewayError(
      "usage",
      `${dir} is no home of OpenClaw: it contains no ${CONFIGURATION_NAMES[0]}.`,
    );
  const copies = createDatabaseCopies();
  try {
    return readHome(dir, name, options, copies, locate);
  } catch (error) {
    copies.close();
    throw error;
  }
}

function readHome(
  dir: string,
  name: string | undefined,
  options: ReadOptions,
  copies: DatabaseCopies,
  locate: Locate,
): SourceHome {
  const root = name === undefined ? {} : readConfigurationFile(join(dir, name), dir);
  const items: Item[] = [];
  const warnings: string[] = [];
  const stateFile = join(dir, "state", "openclaw.sqlite");
  const state = existsSync(stateFile) ? readDatabaseState(copies.open(stateFile), dir) : readFileState(dir);
  items.push(...state.items);
  warnings.push(...state.warnings);
  const agentsOfConfiguration = findAgents(createSettingsReader(root));
  const sessions = readSessions(dir, [...agentsOfConfiguration.keys()], copies, items);
  const all = [...sessions.values()].flat();
  const configuration = convertConfiguration(
    root,
    {
      secrets: state.secrets,
      paired: state.paired,
      knownGroups: listGroups(all),
      severalPeople: findMainPeople(all).size > 1,
      execApprovals: state.execApprovals,
    },
    options,
  );
  items.push(...configuration.items);
  const imports: Import[] = [...configuration.imports];
  const agentIds = [...agentsOfConfiguration.keys()];
  const workspaces = findWorkspaces(dir, root, agentIds, configuration, options, locate);
  const conversations = convertSessions(sessions, {
    configuration,
    links: readLinks(root),
    options,
    channels: ["telegram", "discord", "slack", "feishu"],
    folders: [join(dir, "media"), ...workspaces.map(({ folder }) => folder)],
    mediaFolders: ["inbound", "outbound"].map((name) => join(dir, "media", name)),
    locate,
  });
  imports.push(...conversations.imports);
  items.push(...conversations.items);
  const approvals = mapExecApprovals(
    state.execApprovals,
    agentIds.map((id) => toAgentId(id, options)),
  );
  imports.push(...approvals.imports);
  items.push(...approvals.items);
  const jobs = convertSchedules(readJobs(state.jobs, configuration, options, findOwner(all, configuration)), {
    now: options.now,
    dmScope: configuration.dmScope,
    skipMissed: asRecord(asRecord(root)?.["cron"])?.["skipMissedJobs"] === true,
  });
  imports.push(...jobs.imports);
  items.push(...jobs.items);
  const files = readFiles(dir, workspaces, state, configuration, options);
  imports.push(...files.imports);
  items.push(...files.items, ...listRest(dir, files.workspaceDirs));
  return {
    system: "openclaw",
    dir,
    version: state.version,
    imports,
    items,
    warnings: [...warnings, ...configuration.warnings],
    steps: [
      ...configuration.steps,
      ...(files.foreignLines.length === 0
        ? []
        : [`Lines that name OpenClaw's own commands or tools:\n${files.foreignLines.join("\n")}`]),
    ],
    port: createSettingsReader(root).number("gateway", "port") ?? 18_789,
    close: () => copies.close(),
  };
}

/** Returns OpenClaw's standard state folder. */
export function getOpenclawFolder(env: ReadOptions["env"]): string {
  const candidates = [".openclaw", ".clawdbot", ".moltbot"].map((each) => join(homedir(), each));
  return (
    env["OPENCLAW_STATE_DIR"] || (candidates.find((each) => existsSync(each)) ?? join(homedir(), ".openclaw"))
  );
}

/** Reads the sessions of all agents. */
function readSessions(
  dir: string,
  configured: readonly string[],
  copies: DatabaseCopies,
  items: Item[],
): ReadonlyMap<string, readonly SourceSession[]> {
  const agentsDir = join(dir, "agents");
  const agents = new Set([...(existsSync(agentsDir) ? readdirSync(agentsDir) : []), ...configured]);
  const sessions = new Map<string, readonly SourceSession[]>();
  for (const agent of agents) {
    const agentDir = join(agentsDir, agent, "agent");
    const file = join(agentDir, "openclaw-agent.sqlite");
    const found: SourceSession[] = [];
    if (existsSync(file)) {
      try {
        const database = copies.open(file);
        if (database.version >= FIRST_AGENT_VERSION) found.push(...readDatabaseSessions(database, agentDir));
        if (database.has("standing_intents", []))
          for (let index = 0; index < database.count("standing_intents"); index++)
            items.push({
              part: "schedules",
              id: `agents/${agent}/standing_intents[${index}]`,
              state: "unsupported",
              why: "Standing intents.",
            });
      } catch (error) {
        if (!(error instanceof GatewayError)) throw error;
        items.push({ part: "sessions", id: `agents/${agent}`, state: "unsupported", why: reasonOf(error) });
      }
    }
    if (found.length === 0) found.push(...readFileSessions(join(agentsDir, agent, "sessions")));
    sessions.set(agent, found);
  }
  return sessions;
}

function readLinks(root: unknown): ReadonlyMap<string, string> {
  const links = asRecord(asRecord(asRecord(root)?.["session"])?.["identityLinks"]) ?? {};
  return new Map(
    Object.entries(links).flatMap(([name, ids]) =>
      Array.isArray(ids) ? ids.flatMap((id) => (typeof id === "string" ? [[id, name] as const] : [])) : [],
    ),
  );
}

/** Returns the direct conversation that an owner used last. */
function findOwner(
  sessions: readonly SourceSession[],
  { owners }: Configuration,
): { readonly channel: string; readonly account: string; readonly peerId: string } | undefined {
  const routes = sessions
    .toSorted((a, b) => b.updatedAt - a.updatedAt)
    .flatMap(({ entry }) => {
      const route = asRecord(asRecord(entry["delivery"])?.["route"]) ?? asRecord(entry["route"]);
      const channel = asText(route?.["channel"]) ?? asText(entry["lastChannel"]);
      const to = asText(asRecord(route?.["target"])?.["to"]) ?? asText(entry["lastTo"]);
      const account = asText(route?.["accountId"]) ?? asText(entry["lastAccountId"]) ?? "default";
      if (channel === undefined || to === undefined) return [];
      return [{ channel, account, peerId: stripPrefix(to, channel) }];
    });
  return routes.find(({ channel, peerId }) => owners.includes(`${channel}:${peerId}`));
}
