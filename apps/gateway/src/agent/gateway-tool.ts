import { reasonOf } from "@signalbox/agent-core";
import { type ConfigEdit, type ConfigPath, findSecrets, parseConfigPath } from "@signalbox/config";
import { ASSUMED_SECRETS, changeConfig, configText, type Home, proposedConfig } from "@signalbox/home";
import { redactJson } from "@signalbox/redaction";
import type { ConfigChange, GatewayToolOptions } from "@signalbox/tools";
import { parse, stringify } from "yaml";
import type { CoreContext } from "../core-context.ts";
import { VERSION } from "../version.ts";

/** Creates the tool with which agents look up the gateway's state and propose configuration changes. */
export function createGatewayTool(core: CoreContext): GatewayToolOptions {
  const { redact, now } = core;
  const { home, env } = core;
  return {
    status: async () => redact(formatStatus(core)),
    async config(key) {
      const applied: unknown = redactJson(JSON.parse(JSON.stringify(core.config.current().settings)), redact);
      const value = key === undefined ? applied : valueAt(applied, parseConfigPath(home.configFile, key));
      if (value === undefined) throw new Error(`${key} is not set and has no default.`);
      return stringify(value).trimEnd();
    },
    async preview(change) {
      const edit = toConfigEdit(home, change);
      try {
        // Check the change first: its errors explain which values cannot be read or changed.
        const proposed = proposedConfig(home, env, [edit]);
        const before = valueAt(parse(configText(home.configFile)), edit.path);
        const after = valueAt(parse(proposed), edit.path);
        return redact([`${change.key}:`, ...marked("-", before), ...marked("+", after)].join("\n"));
      } catch (error) {
        throw new Error(redact(reasonOf(error)), { cause: error });
      }
    },
    // The reload after the change resolves secret references.
    apply: async (change) =>
      changeConfig(home, env, [toConfigEdit(home, change)], new Date(now()), ASSUMED_SECRETS),
  };
}

function formatStatus({ config, accounts }: CoreContext): string {
  const { agents, models } = config.current();
  return stringify({
    version: VERSION,
    agents: agents.all.map((agent) => {
      const chosen = models.of(agent);
      return { id: agent.id, model: chosen && `${chosen.model.provider}/${chosen.model.id}` };
    }),
    accounts: accounts.list(),
  }).trimEnd();
}

/**
 * Converts a change. A model must not write secrets into the configuration, but it may refer to a secret as `${NAME}`.
 */
function toConfigEdit({ configFile }: Home, { key, value }: ConfigChange): ConfigEdit {
  const path = parseConfigPath(configFile, key);
  if (findSecrets(value, path).some((secret) => !REFERENCE.test(secret)))
    throw new Error(
      "Secrets cannot be set here. An owner sets one with `signalbox config set`, or refers to it as ${NAME}.",
    );
  return { path, value };
}

const REFERENCE = /^\$\{\w+\}$/;

function valueAt(value: unknown, [step, ...rest]: ConfigPath): unknown {
  if (step === undefined) return value;
  if (value === null || typeof value !== "object") return undefined;
  return valueAt(Object.getOwnPropertyDescriptor(value, step)?.value, rest);
}

function marked(sign: "-" | "+", value: unknown): string[] {
  if (value === undefined) return [];
  const lines = stringify(value).trimEnd().split("\n");
  return lines.map((line) => `${sign} ${line}`);
}
