import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "@signalbox/config";
import { type Env, findExposedFiles, type Home, isLoopback, openVault } from "@signalbox/home";
import { KEY_VARIABLES } from "@signalbox/llm-providers";
import { allowsTool } from "@signalbox/tools";
import type { Agents } from "../../configure/agents.ts";
import type { ConfiguredHome, GatewayHost } from "../host.ts";
import { type Finding, runCheck } from "./finding.ts";
import { checkReach, describeExec } from "./policy.ts";

/** Settings and files to review. */
interface Reviewed {
  readonly home: Home;
  readonly config: Config;
  readonly agents: Agents;
  readonly env: Env;
  /** True if this process runs as root. */
  readonly isRoot: boolean;
}

/**
 * Reviews the settings that decide who can reach the agents, what the agents can reach, and who can read the gateway's
 * secrets.
 */
export async function checkSecurity(configured: ConfiguredHome, host: GatewayHost): Promise<Finding[]> {
  const { home, loaded, env } = configured;
  const vault = openVault(loaded, env);
  const { setup } = await host.prepare(configured, vault, { level: "silent" });
  const { agents } = setup;
  return [
    ...reviewSettings({ home, config: loaded.config, agents, env, isRoot: process.getuid?.() === 0 }),
    await runCheck("policy", async () => checkReach(agents)),
    await runCheck("exec", () => describeExec(loaded.config, agents, home)),
  ];
}

/** Reviews settings, files and variables, without starting anything. */
function reviewSettings(reviewed: Reviewed): Finding[] {
  return [
    reviewPeople(reviewed),
    reviewGroups(reviewed),
    reviewAddress(reviewed),
    reviewFiles(reviewed),
    reviewVariables(reviewed),
    reviewSandbox(reviewed),
    reviewTaint(reviewed),
    reviewReach(reviewed),
    reviewUser(reviewed),
  ];
}

function reviewPeople({ config: { access } }: Reviewed): Finding {
  const part = "direct messages";
  if (access.dm !== "open") return { part, state: "ok", detail: `access.dm is ${access.dm}` };
  return {
    part,
    state: "warning",
    detail: "access.dm is open: everyone who finds the bot can talk to the agents and spend money",
    remedy: "Set access.dm to pairing or allowlist, or limit the spending with budgets.",
  };
}

function reviewGroups({ config: { access } }: Reviewed): Finding {
  const part = "groups";
  const { mode, people, requireMention, allow } = access.groups;
  const remedy = "List the groups in access.groups.allow, and set access.groups.people to members.";
  if (mode === "open")
    return { part, state: "warning", detail: "access.groups.mode is open: every group is answered", remedy };
  if (mode === "off" || allow.length === 0) return { part, state: "ok", detail: "no group is answered" };
  if (people === "anyone" && !requireMention)
    return {
      part,
      state: "warning",
      detail: "everyone in the listed groups is answered, even without a mention of the agent",
      remedy: "Set access.groups.requireMention to true, or access.groups.people to members.",
    };
  return { part, state: "ok", detail: `${allow.length} groups are answered, for ${people}` };
}

function reviewAddress({ config: { gateway } }: Reviewed): Finding {
  const part = "address";
  if (isLoopback(gateway.host)) return { part, state: "ok", detail: `listens on ${gateway.host} only` };
  return {
    part,
    state: "warning",
    detail: `listens on ${gateway.host}, which other machines can reach without encryption`,
    remedy: "Set gateway.host to 127.0.0.1, and put a proxy with TLS in front of it.",
  };
}

function reviewFiles({ home }: Reviewed): Finding {
  const part = "files";
  const secrets = join(home.dir, "secrets");
  const names = existsSync(secrets) ? readdirSync(secrets) : [];
  const open = [
    ...findExposedFiles(home).map(({ path }) => path),
    ...names.map((name) => join(secrets, name)).filter((path) => (statSync(path).mode & 0o077) !== 0),
  ];
  if (open.length === 0) return { part, state: "ok", detail: "other users cannot read the home" };
  return {
    part,
    state: "error",
    detail: `other users can read ${open.join(", ")}`,
    remedy: `Close them with \`chmod -R go= ${home.dir}\`.`,
  };
}

function reviewVariables({ env }: Reviewed): Finding {
  const part = "environment";
  const known = ["SIGNALBOX_TOKEN", ...Object.values(KEY_VARIABLES).flat()];
  const names = known.filter((name) => env[name]);
  if (names.length === 0) return { part, state: "ok", detail: "no token or key is in a variable" };
  return {
    part,
    state: "warning",
    detail: `${names.join(", ")} ${names.length === 1 ? "is" : "are"} set: programs that this shell starts inherit ${names.length === 1 ? "it" : "them"}`,
    remedy:
      "Store keys in files of the home: `signalbox init` does, and the configuration names them as ${file:secrets/name}.",
  };
}

function reviewSandbox({ config: { tools }, agents }: Reviewed): Finding {
  const part = "sandbox";
  const users = agents.all.filter((agent) => allowsTool(agent.tools, "exec")).map(({ id }) => id);
  const { sandbox } = tools.exec;
  if (sandbox !== "none" || users.length === 0)
    return { part, state: "ok", detail: `tools.exec.sandbox is ${sandbox}` };
  return {
    part,
    state: "error",
    detail: `tools.exec.sandbox is none: commands of ${users.join(", ")} can read and change everything that this user can`,
    remedy: "Set tools.exec.sandbox to bubblewrap, or to off.",
  };
}

/** Reports agents whose commands run without approval after the agent has read untrusted content. */
function reviewTaint({ config: { tools }, agents }: Reviewed): Finding {
  const part = "untrusted content";
  const isIsolated = tools.exec.sandbox !== "none";
  const trusting = agents.all.filter((agent) => {
    const ask = agent.tools.askModes?.["exec"] ?? tools.exec.ask;
    const reaches = agent.tools.domains.length > 0 || !isIsolated;
    return ask === "never" && reaches && allowsTool(agent.tools, "exec");
  });
  if (trusting.length === 0)
    return {
      part,
      state: "ok",
      detail: "commands after untrusted content have no network, or need approval",
    };
  return {
    part,
    state: "warning",
    detail: `commands of ${trusting.map(({ id }) => id).join(", ")} can reach other hosts without approval`,
    remedy: "Set tools.exec.ask to tainted, so that an owner approves commands after untrusted content.",
  };
}

function reviewReach({ config: { tools } }: Reviewed): Finding {
  const part = "reach";
  const reached = [
    ...(tools.web.allow.length === 0
      ? []
      : [`private hosts (tools.web.allow: ${tools.web.allow.join(", ")})`]),
    ...(tools.sessions.visibility === "all"
      ? ["conversations of other agents (tools.sessions.visibility)"]
      : []),
  ];
  if (reached.length === 0)
    return { part, state: "ok", detail: "no private hosts, no conversations of other agents" };
  return {
    part,
    state: "warning",
    detail: `agents can reach ${reached.join(" and ")}`,
    remedy: "Keep only what the agents need.",
  };
}

function reviewUser({ isRoot }: Reviewed): Finding {
  const part = "user";
  if (!isRoot) return { part, state: "ok", detail: "not root" };
  return {
    part,
    state: "warning",
    detail: "this process runs as root",
    remedy: "Run the gateway as a user of its own, for instance with `signalbox service install --system`.",
  };
}
