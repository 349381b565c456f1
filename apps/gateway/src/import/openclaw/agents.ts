import { toAgentId } from "../names.ts";
import { asRecord, asTexts, type SettingsReader, type SourcePath } from "../settings.ts";
import type { ReadOptions, SettingImport } from "../source.ts";
import { convertModelName } from "./models.ts";
import { type GeneralTools, getApprovalRules, mapTools } from "./tools.ts";

export interface AgentFacts {
  readonly options: ReadOptions;
  readonly providers: ReadonlyMap<string, string>;
  readonly timeZone: string | undefined;
  readonly warnings: string[];
  readonly execApprovals: unknown;
}

/** Returns the paths of the agents in the configuration, by their id in the source. */
export function findAgents(reader: Pick<SettingsReader, "keys" | "get">): ReadonlyMap<string, SourcePath> {
  const found = new Map<string, SourcePath>(
    reader.keys("agents", "entries").map((id) => [id, ["agents", "entries", id]]),
  );
  const list = reader.get("agents", "list");
  for (const [index, entry] of (Array.isArray(list) ? list : []).entries()) {
    const id = asRecord(entry)?.["id"];
    if (typeof id === "string" && !found.has(id)) found.set(id, ["agents", "list", index]);
  }
  return found;
}

/** Converts the agents and their defaults. */
export function mapAgents(
  reader: SettingsReader,
  facts: AgentFacts,
): { readonly ids: ReadonlySet<string>; readonly defaultId: string } {
  const agents = findAgents(reader);
  const ids = new Set([...agents.keys()].map((id) => toAgentId(id, facts.options)));
  const general = mapGeneralTools(reader, facts);
  if (reader.has("agents", "defaults"))
    mapSettings(reader, ["agents", "defaults"], ["agents", "defaults"], facts);
  const chosen = reader.text("agents", "defaults", "systemAgent", "agentId");
  let defaultId = chosen === undefined ? undefined : toAgentId(chosen, facts.options);
  const systemAgentPath: SourcePath = ["agents", "defaults", "systemAgent", "agentId"];
  for (const [theirs, at] of agents) {
    const id = toAgentId(theirs, facts.options);
    const to: SettingImport["path"] = ["agents", "list", { id }];
    reader.note([...at, "id"], "skipped", `It is the agent ${id} here.`);
    if (reader.get(...at, "default") === true || theirs === chosen) {
      reader.map([[...at, "default"], systemAgentPath], [...to, "default"], true);
      defaultId ??= id;
    } else reader.note([...at, "default"], "skipped", "Another agent is the default.");
    const name = reader.text(...at, "name") ?? reader.text(...at, "identity", "name");
    if (name !== undefined)
      reader.map(
        [
          [...at, "name"],
          [...at, "identity", "name"],
        ],
        [...to, "name"],
        name,
      );
    else reader.map([], [...to, "id"], id);
    reader.note([...at, "identity"], "unsupported", "Write it into IDENTITY.md of the workspace.");
    reader.note(
      [...at, "workspace"],
      "skipped",
      facts.options.inPlace ? "It is used where it is." : `The folder becomes workspaces/${id}.`,
    );
    reader.note([...at, "agentDir"], "skipped", "Its state is imported from there.");
    mapSettings(reader, at, to, facts);
    mapTools(reader, [...at, "tools"], [...to, "tools"], facts.warnings, general);
  }
  const [first = "main"] = ids;
  return { ids: ids.size === 0 ? new Set(["main"]) : ids, defaultId: defaultId ?? first };
}

/** Converts the tool lists for all agents, and the rules for commands, which are in another file or database. */
function mapGeneralTools(reader: SettingsReader, { execApprovals, warnings }: AgentFacts): GeneralTools {
  const to = ["agents", "defaults", "tools"];
  const approvals = getApprovalRules(execApprovals);
  const general = mapTools(reader, ["tools"], to, warnings, approvals);
  if (general.deny.length === 0 && approvals.deny.length > 0) reader.map([], [...to, "deny"], approvals.deny);
  if (general.ask === undefined && approvals.ask !== undefined)
    reader.map([], [...to, "ask", "exec"], approvals.ask);
  return {
    allow: general.allow,
    deny: general.deny.length === 0 ? approvals.deny : general.deny,
    ask: general.ask ?? approvals.ask,
  };
}

const THINKING: Readonly<Record<string, string>> = { xhigh: "max", max: "max", ultra: "max" };

/** Converts the settings that agents and their defaults share. */
function mapSettings(
  reader: SettingsReader,
  at: SourcePath,
  to: SettingImport["path"],
  { providers, timeZone, warnings, options }: AgentFacts,
): void {
  reader.note(
    [...at, "workspace"],
    "skipped",
    options.inPlace ? "It is used where it is." : "Workspaces are copied to workspaces/<agent>.",
  );
  reader.note([...at, "userTimezone"], "skipped", "It becomes the zone of schedules, hours and resets.");
  const model = reader.get(...at, "model");
  const primaryPath: SourcePath = typeof model === "string" ? [...at, "model"] : [...at, "model", "primary"];
  const primary = reader.text(...primaryPath);
  const converted = convertModelName(primary, providers);
  if (converted !== undefined)
    reader.map(primaryPath, [...to, "model"], converted.name, { unit: converted.unit });
  else if (primary !== undefined) {
    reader.note(primaryPath, "unsupported", `The model ${primary} cannot be used here.`);
    warnings.push(
      `The model ${primary} cannot be used here. Set another one, otherwise the offline demo model answers.`,
    );
  }
  const fallbacks = reader.texts(...at, "model", "fallbacks");
  const usable = fallbacks.flatMap((name) => convertModelName(name, providers) ?? []);
  if (usable.length > 0)
    reader.map(
      [...at, "model", "fallbacks"],
      [...to, "fallbacks"],
      usable.map(({ name }) => name),
      {
        unit: usable.find(({ unit }) => unit !== undefined)?.unit,
        loss: usable.length < fallbacks.length ? "Some of the models cannot be used here." : undefined,
      },
    );
  const thinking = reader.text(...at, "thinkingDefault");
  if (thinking !== undefined && thinking !== "adaptive")
    reader.map([...at, "thinkingDefault"], [...to, "thinking"], THINKING[thinking] ?? thinking);
  const skills = reader.get(...at, "skills");
  if (Array.isArray(skills)) reader.map([...at, "skills"], [...to, "skills", "allow"], asTexts(skills));
  const seconds = reader.number(...at, "timeoutSeconds");
  if (seconds !== undefined && seconds > 0)
    reader.map([...at, "timeoutSeconds"], [...to, "limits", "wallMs"], seconds * 1_000);
  mapSubAgents(reader, at, to);
  mapHeartbeat(reader, at, to, timeZone);
  if (reader.has(...at, "sandbox", "mode"))
    reader.note([...at, "sandbox"], "skipped", "Commands always run in a sandbox here (tools.exec.sandbox).");
}

function mapSubAgents(reader: SettingsReader, at: SourcePath, to: SettingImport["path"]): void {
  const depth = reader.number(...at, "subagents", "maxSpawnDepth");
  if (depth !== undefined)
    reader.map([...at, "subagents", "maxSpawnDepth"], [...to, "subagents", "maxDepth"], Math.min(depth, 5));
  const children = reader.number(...at, "subagents", "maxChildrenPerAgent");
  if (children !== undefined)
    reader.map(
      [...at, "subagents", "maxChildrenPerAgent"],
      [...to, "subagents", "maxAtOnce"],
      Math.min(children, 50),
    );
  const seconds = reader.number(...at, "subagents", "runTimeoutSeconds");
  if (seconds !== undefined && seconds > 0)
    reader.map(
      [...at, "subagents", "runTimeoutSeconds"],
      [...to, "subagents", "limits", "wallMs"],
      seconds * 1_000,
    );
}

function mapHeartbeat(
  reader: SettingsReader,
  at: SourcePath,
  to: SettingImport["path"],
  timeZone: string | undefined,
): void {
  const every = reader.text(...at, "heartbeat", "every");
  if (every !== undefined) {
    const isOff = /^0+[a-z]*$/.test(every);
    if (isOff) reader.map([...at, "heartbeat", "every"], [...to, "heartbeat", "enabled"], false);
    else if (/^(?=\d)([1-9]\d?h ?)?([1-9]\d{0,2}m)?$/.test(every))
      reader.map([...at, "heartbeat", "every"], [...to, "heartbeat", "every"], every);
  }
  const hours = asRecord(reader.get(...at, "heartbeat", "activeHours"));
  const { start, end } = hours ?? {};
  if (typeof start === "string" && typeof end === "string" && start !== end) {
    const zone =
      typeof hours?.["timezone"] === "string" && hours["timezone"] !== "user" ? hours["timezone"] : timeZone;
    reader.map([...at, "heartbeat", "activeHours"], [...to, "heartbeat", "activeHours"], {
      from: start,
      to: end,
      ...(zone === undefined || zone === "local" ? {} : { zone }),
    });
  }
  const target = reader.text(...at, "heartbeat", "target");
  if (target !== undefined)
    reader.map(
      [...at, "heartbeat", "target"],
      [...to, "heartbeat", "to"],
      target === "last" ? "owner" : "page",
      {
        loss:
          target === "last" || target === "none"
            ? undefined
            : "Heartbeats go to the web page or to an owner here.",
      },
    );
}
