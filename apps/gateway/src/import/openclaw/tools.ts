import { asRecord, asText, type SettingsReader, type SourcePath } from "../settings.ts";
import type { SettingImport } from "../source.ts";

const SAME = [
  ...[
    "read",
    "write",
    "edit",
    "apply_patch",
    "exec",
    "process",
    "message",
    "cron",
    "web_fetch",
    "web_search",
  ],
  ...["image", "sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "memory_search"],
  ...["memory_get", "gateway", "ls", "find", "grep"],
  ...["group:fs", "group:runtime", "group:sessions", "group:memory", "group:web", "group:messaging"],
  ...["group:automation", "group:media"],
];
const PROFILES = ["minimal", "messaging", "coding", "full"];
/** Tools of each profile in OpenClaw, by the names here. */
const TOOLS_OF_PROFILE: Readonly<Record<string, readonly string[]>> = {
  minimal: [],
  messaging: ["message", "sessions_list", "sessions_history", "sessions_send"],
  coding: ["group:fs", "group:runtime", "group:web", "group:memory", "group:sessions", "cron", "image"],
  full: SAME.filter((name) => name.startsWith("group:")).concat("image", "gateway", "cron"),
};

/** Returns the names that exist here. */
export function convertToolNames(names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    if (name === "*") return ["*"];
    return SAME.includes(name) || /^mcp__[a-z0-9-]+__/.test(name) ? [name] : [];
  });
}

/** Tools that are allowed and denied for all agents. An agent's own lists replace those of the defaults here. */
export interface GeneralTools {
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[];
  readonly ask: string | undefined;
}

const NO_GENERAL_TOOLS: GeneralTools = { allow: undefined, deny: [], ask: undefined };

const ASK_ORDER = ["never", "tainted", "unlisted", "always"];

/**
 * Converts the tool lists of an agent, or of all agents.
 *
 * @param general lists for all agents, which also apply to this one
 * @returns the lists as they are imported
 */
export function mapTools(
  reader: SettingsReader,
  at: SourcePath,
  to: SettingImport["path"],
  warnings: string[],
  general: GeneralTools = NO_GENERAL_TOOLS,
): GeneralTools {
  const within = (list: readonly string[]) =>
    general.allow === undefined || general.allow.includes("*")
      ? list
      : list.includes("*")
        ? general.allow
        : list.filter((name) => general.allow?.includes(name));
  const profile = reader.text(...at, "profile");
  const known = profile !== undefined && PROFILES.includes(profile) ? profile : undefined;
  const allow = reader.has(...at, "allow") ? convertToolNames(reader.texts(...at, "allow")) : undefined;
  const also = convertToolNames(reader.texts(...at, "alsoAllow"));
  if (known !== undefined && allow !== undefined) {
    // With a profile, `allow` narrows in OpenClaw, and adds here.
    const inProfile = TOOLS_OF_PROFILE[known] ?? [];
    const both = known === "full" ? allow : allow.filter((name) => inProfile.includes(name));
    reader.map(
      [
        [...at, "profile"],
        [...at, "allow"],
        [...at, "alsoAllow"],
      ],
      [...to, "allow"],
      within([...both, ...also]),
      {
        loss: "A list of tools replaces the profile, because lists add to profiles here.",
      },
    );
  } else {
    if (known !== undefined && general.allow === undefined)
      reader.map([...at, "profile"], [...to, "profile"], known);
    else if (known !== undefined)
      reader.map([...at, "profile"], [...to, "allow"], within(TOOLS_OF_PROFILE[known] ?? []), {
        loss: "A list of tools replaces the profile, because the list for all agents narrows it.",
      });
    const list = within(allow ?? also);
    if (list.length > 0 || allow !== undefined)
      reader.map(
        [
          [...at, "allow"],
          [...at, "alsoAllow"],
        ],
        [...to, "allow"],
        list,
        {
          loss:
            list.length < reader.texts(...at, "allow").length + reader.texts(...at, "alsoAllow").length
              ? "Tools that do not exist here are left out."
              : undefined,
        },
      );
  }
  const deny = convertToolNames(reader.texts(...at, "deny"));
  const mode = getExecMode(reader, at);
  const own = mode === "deny" ? [...deny, "exec"] : deny;
  const denied = own.length === 0 ? [] : [...new Set([...general.deny, ...own])];
  if (denied.length > 0)
    reader.map(
      mode === "deny"
        ? [
            [...at, "deny"],
            [...at, "exec", "mode"],
            [...at, "exec", "security"],
          ]
        : [[...at, "deny"]],
      [...to, "deny"],
      denied,
    );
  else if (reader.has(...at, "deny")) reader.note([...at, "deny"], "skipped", "The tools do not exist here.");
  const askedFor = mode === undefined ? undefined : ASK_OF_MODE[mode];
  const ask =
    askedFor === undefined || general.ask === undefined
      ? askedFor
      : ASK_ORDER[Math.max(ASK_ORDER.indexOf(askedFor), ASK_ORDER.indexOf(general.ask))];
  if (ask !== undefined)
    reader.map(
      [
        [...at, "exec", "mode"],
        [...at, "exec", "security"],
        [...at, "exec", "ask"],
        [...at, "exec", "askFallback"],
      ],
      [...to, "ask", "exec"],
      ask,
      { loss: LOSS_OF_MODE[mode ?? ""] },
    );
  for (const key of ["toolsBySender", "elevated"])
    if (reader.has(...at, key)) {
      warnings.push(
        `${key} of the tools is lost. If it denied tools, deny them in access.groups.rules or agents.list.`,
      );
      reader.note([...at, key], "unsupported", "Tools by sender are roles here (agents.*.tools.roles).");
    }
  const listed = allow ?? (known === undefined ? undefined : TOOLS_OF_PROFILE[known]);
  return { allow: listed === undefined ? general.allow : within(listed), deny: denied, ask };
}

const ASK_OF_MODE: Readonly<Record<string, string>> = {
  allowlist: "unlisted",
  ask: "unlisted",
  auto: "unlisted",
  always: "always",
  "full-on-miss": "tainted",
};
const LOSS_OF_MODE: Readonly<Record<string, string>> = {
  allowlist: "Commands that no rule covers were refused, and need an approval here.",
  auto: "A model reviewed commands. Here a person approves those that no rule covers.",
};

/** Returns the mode of `exec`, also for the older pair of `security` and `ask`. */
function getExecMode(reader: SettingsReader, at: SourcePath): string | undefined {
  const mode = reader.text(...at, "exec", "mode");
  if (mode !== undefined) return mode;
  return getModeOf(reader.text(...at, "exec", "security"), reader.text(...at, "exec", "ask"));
}

/** From the most permissive to the strictest. */
const MODES = ["full", "full-on-miss", "auto", "ask", "allowlist", "always", "deny"];

/** Returns the strictest rule for commands in the approvals of OpenClaw's host. It applies to all agents here. */
export function getApprovalRules(approvals: unknown): GeneralTools {
  const root = asRecord(approvals);
  const scopes = [root?.["defaults"], ...Object.values(asRecord(root?.["agents"]) ?? {})].map(asRecord);
  const modes = scopes.flatMap(
    (scope) => getModeOf(asText(scope?.["security"]), asText(scope?.["ask"])) ?? [],
  );
  const mode = MODES[Math.max(-1, ...modes.map((each) => MODES.indexOf(each)))];
  return {
    allow: undefined,
    deny: mode === "deny" ? ["exec"] : [],
    ask: mode === undefined ? undefined : ASK_OF_MODE[mode],
  };
}

/** Returns the mode that the older pair of settings means. */
function getModeOf(security: string | undefined, ask: string | undefined): string | undefined {
  if (security === undefined && ask === undefined) return undefined;
  if (security === "deny") return "deny";
  if (ask === "always") return "always";
  if (security === "allowlist") return ask === "off" ? "allowlist" : "ask";
  return ask === "on-miss" ? "full-on-miss" : "full";
}
