import { existsSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join, relative, resolve } from "node:path";
import type { Item } from "../item.ts";
import { toAgentId } from "../names.ts";
import { createSettingsReader } from "../settings.ts";
import type { Import, ReadOptions } from "../source.ts";
import { keepWorkspace } from "../workspace-in-place.ts";
import { convertSkills, convertWorkspace, type SourceWorkspace } from "../workspaces.ts";
import { findAgents } from "./agents.ts";
import type { Configuration } from "./configuration.ts";
import type { State } from "./state.ts";

/** Finds a path of the configuration, which may be one of another machine. */
export type Locate = (path: string) => string;

/** The workspaces and skills of a home. */
interface FoundFiles {
  readonly imports: readonly Import[];
  readonly items: readonly Item[];
  /** Lines that name OpenClaw, as `file:line: text`. */
  readonly foreignLines: readonly string[];
  readonly workspaceDirs: readonly string[];
}

/** A folder that is the workspace of an agent. An agent may have several. */
export interface WorkspaceFolder {
  /** Id of the agent in the source. */
  readonly id: string;
  readonly folder: string;
}

/** Returns the existing workspaces of the agents. */
export function findWorkspaces(
  dir: string,
  root: unknown,
  agents: readonly string[],
  { defaultAgent }: Configuration,
  options: ReadOptions,
  locate: Locate,
): readonly WorkspaceFolder[] {
  const reader = createSettingsReader(root);
  const paths = findAgents(reader);
  const fallback = reader.text("agents", "defaults", "workspace");
  const expand = (path: string): string => locate(resolve(path.replace(/^~(?=\/|$)/, homedir())));
  const isDefault = (id: string): boolean => toAgentId(id, options) === defaultAgent;
  const ids = agents.length === 0 ? ["main"] : agents;
  return ids.flatMap((id) => {
    const at = paths.get(id);
    const own = at === undefined ? undefined : reader.text(...at, "workspace");
    const folders =
      own !== undefined
        ? [expand(own)]
        : [
            ...(fallback === undefined ? [] : [join(expand(fallback), id)]),
            ...(isDefault(id) ? [fallback === undefined ? join(dir, "workspace") : expand(fallback)] : []),
            join(dir, `workspace-${id}`),
          ];
    return folders.filter((folder) => existsSync(folder)).map((folder) => ({ id, folder }));
  });
}

/** Reads the workspaces of all agents, and the skills that they share. */
export function readFiles(
  dir: string,
  workspaces: readonly WorkspaceFolder[],
  state: State,
  { hadOthers }: Configuration,
  options: ReadOptions,
): FoundFiles {
  const imports: Import[] = [];
  const items: Item[] = [];
  const foreignLines: string[] = [];
  const seen = new Map<string, string>();
  const isUntrusted = hadOthers && !options.trustMemory;
  for (const { id, folder } of workspaces) {
    const workspace: SourceWorkspace = {
      agentId: toAgentId(id, options),
      dir: folder,
      without: workspaces
        .map((other) => relative(folder, other.folder))
        .filter((path) => path !== "" && !path.startsWith("..")),
      generated: state.generated.get(folder) ?? new Map<string, string>(),
    };
    const isOnly = workspaces.filter((other) => other.id === id).length === 1;
    const converted =
      options.inPlace && isOnly
        ? keepWorkspace(workspace, { isUntrusted })
        : convertWorkspace(workspace, { isUntrusted });
    for (const each of converted.imports) {
      if (each.kind === "setting") {
        imports.push(each);
        continue;
      }
      const other = seen.get(each.to);
      if (other !== undefined && other !== folder)
        items.push({
          part: each.kind === "skill" ? "skills" : each.part,
          id: `${folder}: ${each.id}`,
          state: "conflict",
          why: `Another workspace of the agent has it, too (${other}).`,
        });
      else {
        imports.push(each);
        seen.set(each.to, folder);
      }
    }
    items.push(...converted.items);
    foreignLines.push(...converted.foreignLines);
  }
  const skills = convertSkills(join(dir, "skills"), "skills", "skills");
  imports.push(...skills.imports);
  items.push(...skills.items);
  return { imports, items, foreignLines, workspaceDirs: workspaces.map(({ folder }) => folder) };
}

/** Entries of the state folder that other functions read, or that OpenClaw creates again. */
const READ = new Set([
  ...["openclaw.json", "clawdbot.json", "moltbot.json", ".env", "state", "agents", "skills", "cron"],
  ...["exec-approvals.json", "credentials"],
]);
const RECREATED =
  /^(plugin-skills|npm|cache|tmp|migration|logs|config-journal-fingerprint\.key|.*\.(bak|last-good)(\.\d)?|.*\.migrated)$/;

/** Reports the rest of the state folder. */
export function listRest(dir: string, workspaces: readonly string[]): readonly Item[] {
  const items: Item[] = [];
  const add = (id: string, state: Item["state"], why: string): void =>
    void items.push({ part: "config", id, state, why });
  for (const name of readdirSync(dir).toSorted()) {
    const path = join(dir, name);
    if (READ.has(name) || workspaces.includes(path)) continue;
    if (RECREATED.test(name)) add(name, "skipped", "OpenClaw creates it again.");
    else if (name === "media") {
      const count = countFiles(path);
      if (count > 0)
        add(name, "skipped", `${count} files. Those of imported conversations are imported with them.`);
      else add(name, "skipped", "It is empty.");
    } else if (/^workspace/.test(name)) add(name, "skipped", "No agent of the configuration uses it.");
    else
      add(
        name,
        "unsupported",
        name === "hooks" || name === "extensions"
          ? "Code of hooks and plugins."
          : "Signalbox has no use for it.",
      );
  }
  const credentials = join(dir, "credentials");
  if (existsSync(credentials))
    for (const name of readdirSync(credentials).toSorted())
      if (!/-allowFrom\.json$/.test(name))
        add(
          `credentials/${basename(name)}`,
          "unsupported",
          "A login, or a linked device of a channel that this command does not import.",
        );
  return items;
}

function countFiles(dir: string): number {
  if (!statSync(dir).isDirectory()) return 1;
  return readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length;
}
