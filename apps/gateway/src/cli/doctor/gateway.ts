import {
  type AgentInfo,
  type ChannelStatus,
  type ConfigurationState,
  isClientError,
  type MessageInfo,
} from "@signalbox/client";
import { GatewayError, type Home } from "@signalbox/home";
import { readHomeHolder } from "@signalbox/store";
import { formatCommand } from "../format-command.ts";
import { readRefusal, runningGateway } from "../running.ts";
import type { Finding } from "./finding.ts";

/**
 * Reports the running gateway's state and its platforms' errors. If no gateway is running, reports whose environment
 * was checked.
 */
export async function checkGateway(home: Home, withModels: boolean): Promise<Finding[]> {
  const holder = readHomeHolder(home.dir);
  if (holder === undefined)
    return [
      {
        part: "gateway",
        state: "ok",
        detail: `not running on this home; keys and variables were read from this shell${withModels ? "; no model was called" : ""}`,
        remedy: `${formatCommand(home, "start")}, or ${formatCommand(home, "service install")}.`,
      },
    ];
  const holding = holder === "unknown" ? "another process" : `process ${holder.pid}`;
  try {
    return await askGateway(home, withModels, holding);
  } catch (error) {
    return [silenceFinding(error, holding)];
  }
}

/** @throws GatewayError or ClientError if the gateway does not respond */
async function askGateway(home: Home, withModels: boolean, holding: string): Promise<Finding[]> {
  const { client, running } = await runningGateway(home.dir);
  const [status, checks, { messages }, refusal] = await Promise.all([
    client.status(),
    client.checks({ models: withModels }),
    client.messages(),
    readRefusal(running),
  ]);
  const { version, startedAt, configuration, agents, channels } = status;
  const failed = new Set(checks.filter(({ ok }) => !ok).map(({ part }) => part));
  return [
    {
      part: "gateway",
      state: "ok",
      detail: `${version} is running at ${running.url} (${holding}) since ${new Date(startedAt).toISOString()}`,
    },
    ...refusalFindings(refusal),
    ...configurationFindings(configuration),
    ...agents.map((agent) => agentFinding(agent, messages)),
    // An account that receives webhooks is ready even if the platform refuses its secret.
    ...channels.map(channelFinding).filter(({ part, state }) => state !== "ok" || !failed.has(part)),
    ...checks.map(
      ({ ok, severity = "warning", ...said }): Finding => ({ ...said, state: ok ? "ok" : severity }),
    ),
  ];
}

/** Reports a running gateway that accepts no messages. */
function refusalFindings(reason: string | undefined): Finding[] {
  if (reason === undefined) return [];
  return [
    {
      part: "messages",
      state: "error",
      detail: `the gateway accepts no messages, because ${reason}`,
      remedy:
        "Correct this. The gateway then continues by itself, and the platforms deliver the messages again.",
    },
  ];
}

/** Explains why a gateway that holds the home does not respond. Rethrows other errors. */
function silenceFinding(error: unknown, holding: string): Finding {
  if (error instanceof GatewayError && error.code === "config")
    return {
      part: "gateway",
      state: "warning",
      detail: `${holding} is using this home with the configuration it last read; it cannot be queried while the file is broken`,
      remedy: "Fix the configuration; its own line here says how.",
    };
  if (!(error instanceof GatewayError) && !isClientError(error)) throw error;
  return {
    part: "gateway",
    state: "error",
    detail: `${holding} is using this home but does not respond`,
    remedy: "Wait until it has started, or check `signalbox logs`.",
  };
}

/** Reports whether an agent's model answered its last call. */
function agentFinding(
  { id, demo, model = "its model" }: AgentInfo,
  messages: readonly MessageInfo[],
): Finding {
  const part = `agent ${id}`;
  if (demo)
    return {
      part,
      state: "warning",
      detail: "uses the offline demo model",
      remedy:
        "Set up a model with `signalbox init`. Only environment variables of the gateway's own process count.",
    };
  const last = messages.find(
    ({ agent, state, rule }) => agent === id && ASKED.has(state) && rule?.startsWith("command:") !== true,
  );
  const hasFailed = last?.state === "failed-reported" || last?.state === "unreported";
  if (!hasFailed) return { part, state: "ok", detail: `uses ${model}` };
  return {
    part,
    state: "warning",
    detail: `uses ${model}; its last message could not be answered${last.rule === undefined ? "" : ` (${last.rule})`}`,
    remedy: `Run \`signalbox why ${last.id}\` to see what to do, or \`signalbox doctor --models\` to test the model.`,
  };
}

function channelFinding({ channel, account, state, reason }: ChannelStatus): Finding {
  const part = `channel ${channel}/${account}`;
  const detail = reason === undefined ? state : `${state}: ${reason}`;
  if (state === "ready") return { part, state: "ok", detail };
  return {
    part,
    state: state === "starting" ? "warning" : "error",
    detail,
    remedy: `See what the platform said with \`signalbox logs --level warn\`, then fix channels.${channel}.accounts.${account}.`,
  };
}

/** Message states that imply a model call. */
const ASKED: ReadonlySet<MessageInfo["state"]> = new Set([
  "replied",
  "silent",
  "failed-reported",
  "unreported",
]);

/** Lists the settings in the configuration file that are not in effect. */
function configurationFindings({ forStart, kept, errors }: ConfigurationState): Finding[] {
  const part = "running configuration";
  const restart: Finding = {
    part,
    state: "warning",
    detail: `${forStart.join(", ")} changed since the gateway started, and takes effect only after a restart`,
    remedy: "Restart the gateway; if it is a service, with `systemctl --user restart signalbox`.",
  };
  const correct: Finding = {
    part,
    state: "warning",
    detail: `the previous values stay in effect, because the last change has errors: ${kept.join(", ")}`,
    remedy: "Fix what `signalbox config check` reports; the gateway picks it up at once.",
  };
  // Report the errors of the running gateway, whose environment may differ from the environment of this process.
  const wrong = errors.map(
    ({ path, message, remedy }): Finding => ({ part, state: "error", detail: `${path}: ${message}`, remedy }),
  );
  return [...(forStart.length > 0 ? [restart] : []), ...wrong, ...(kept.length > 0 ? [correct] : [])];
}
