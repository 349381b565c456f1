import type { MergedAccess, SourceAccount } from "../access.ts";
import { toAccountName, toAgentId } from "../names.ts";
import { asRecord, asText, type SettingsReader, type SourcePath } from "../settings.ts";
import type { ReadOptions } from "../source.ts";
import { stripPrefix } from "./accounts.ts";

/**
 * Converts the bindings. A binding that names a person or a group admits them here, and not in OpenClaw, so it is
 * imported only if they are admitted anyway.
 */
export function mapBindings(
  reader: SettingsReader,
  facts: {
    readonly accounts: readonly SourceAccount[];
    readonly access: MergedAccess;
    readonly options: ReadOptions;
    readonly agents: ReadonlySet<string>;
  },
): void {
  const { accounts, access, options, agents } = facts;
  const list = reader.get("bindings");
  const converted: unknown[] = [];
  const from: SourcePath[] = [];
  for (const [index, entry] of (Array.isArray(list) ? list : []).entries()) {
    const at: SourcePath = ["bindings", index];
    const binding = asRecord(entry) ?? {};
    const match = asRecord(binding["match"]) ?? {};
    const channel = asText(match["channel"]) ?? "";
    const agent = toAgentId(asText(binding["agentId"]) ?? "", options);
    const ofChannel = accounts.filter((each) => each.channel === channel);
    const fault = getFault();
    if (fault !== undefined) {
      reader.note(at, "unsupported", fault);
      continue;
    }
    const theirs = asText(match["accountId"]);
    const account = theirs === "*" ? undefined : toAccountName(channel, theirs ?? "default", options);
    const peer = asRecord(match["peer"]);
    const peerId = stripPrefix(asText(peer?.["id"]) ?? "", channel);
    converted.push({
      agent,
      match: {
        channel,
        // A binding without an account is for the default account there, and for every account here.
        ...(account === undefined || ofChannel.length === 1 ? {} : { account }),
        ...(peer === undefined ? {} : { peer: { kind: toKind(peer["kind"]), id: peerId } }),
        ...pick(match, "guildId"),
        ...pick(match, "teamId"),
        ...(Array.isArray(match["roles"]) && match["roles"].length > 0 ? { roles: match["roles"] } : {}),
      },
    });
    from.push(at);

    function getFault(): string | undefined {
      if (binding["type"] !== undefined && binding["type"] !== "route")
        return `Bindings of the type ${String(binding["type"])}.`;
      if (ofChannel.length === 0) return `Its channel ${channel} is not imported.`;
      if (!agents.has(agent)) return `There is no agent ${agent}.`;
      if (binding["session"] !== undefined) return "A scope of sessions for one binding.";
      const named = asRecord(match["peer"]);
      const id = stripPrefix(asText(named?.["id"]) ?? "", channel);
      if (named === undefined || id.includes("*")) return undefined;
      const isDirect = toKind(named["kind"]) === "direct";
      const key = `${channel}:${id}`;
      const isAdmitted = isDirect
        ? access.owners.includes(key) || access.allow.includes(key)
        : access.groups.has(key);
      return isAdmitted
        ? undefined
        : "It would admit a person or a group that the imported rules do not admit.";
    }
  }
  if (converted.length > 0) reader.map(from, ["bindings"], converted, { unit: "access" });
}

function toKind(kind: unknown): "direct" | "group" | "channel" {
  return kind === "group" || kind === "channel" ? kind : "direct";
}

function pick(match: Readonly<Record<string, unknown>>, key: string): Record<string, string> {
  const text = asText(match[key]);
  return text === undefined ? {} : { [key]: text };
}
