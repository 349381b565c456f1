import { type ConfigurationState, isClientError, type MessageInfo } from "@signalbox/client";
import { ConfigError } from "@signalbox/config";
import { GatewayError, type Home } from "@signalbox/home";
import { readHomeHolder } from "@signalbox/store";
import { runningGateway } from "../running.ts";
import type { Finding } from "./finding.ts";

/**
 * What the running gateway says of itself, and what it is told by platforms; where none runs, whose environment is
 * looked at.
 */
export async function lookAtGateway(home: Home, withModels: boolean): Promise<Finding[]> {
  const holder = readHomeHolder(home.dir);
  if (holder === undefined)
    return [
      {
        part: "gateway",
        state: "ok",
        detail: "none runs on this home; keys and variables are those of this shell",
        remedy: "`signalbox start`, or `signalbox service install`.",
      },
    ];
  const pid = holder === "unknown" ? "another process" : `process ${holder.pid}`;
  try {
    const { client, running } = await runningGateway(home.dir);
    const [status, checks, messages] = await Promise.all([
      client.status(),
      client.checks({ models: withModels }),
      client.latestMessages(),
    ]);
    return [
      {
        part: "gateway",
        state: "ok",
        detail: `${status.version} runs at ${running.url} (${pid}) since ${new Date(status.startedAt).toISOString()}`,
      },
      ...configurationFindings(status.configuration),
      ...status.agents.map(({ id, demo, model }): Finding => {
        if (!demo) return agentFinding(id, model ?? "its model", messages);
        return {
          part: `agent ${id}`,
          state: "warning",
          detail: "the offline demo model answers",
          remedy:
            "`signalbox init` sets up a model; the variables that count are those of the gateway's process.",
        };
      }),
      ...status.channels.map(({ channel, account, state, reason }): Finding => {
        const detail = reason === undefined ? state : `${state}: ${reason}`;
        if (state === "ready") return { part: `channel ${channel}/${account}`, state: "ok", detail };
        return {
          part: `channel ${channel}/${account}`,
          state: "warning",
          detail,
          remedy: `\`signalbox logs --level warn\` has what the platform said; correct channels.${channel}.accounts.${account}.`,
        };
      }),
      ...checks.map(({ ok, ...said }): Finding => ({ ...said, state: ok ? "ok" : "warning" })),
    ];
  } catch (error) {
    if (error instanceof ConfigError)
      return [
        {
          part: "gateway",
          state: "warning",
          detail: `${pid} holds this home, and goes on with the configuration that it has read; with the file as it is nobody can ask it`,
          remedy: "Correct the configuration, which has a line of its own here.",
        },
      ];
    if (!(error instanceof GatewayError) && !isClientError(error)) throw error;
    return [
      {
        part: "gateway",
        state: "warning",
        detail: `${pid} holds this home and does not answer`,
        remedy: "Wait for its start, or look at `signalbox logs`.",
      },
    ];
  }
}

/** An agent with a model, and whether that could be asked when it was last wanted. */
function agentFinding(id: string, model: string, messages: readonly MessageInfo[]): Finding {
  const found = { part: `agent ${id}`, detail: `asks ${model}` };
  const last = messages.find(
    ({ agent, state, rule }) => agent === id && ASKED.has(state) && rule?.startsWith("command:") !== true,
  );
  if (last?.state !== "failed-reported") return { ...found, state: "ok" };
  return {
    ...found,
    state: "warning",
    detail: `${found.detail}; its last message could not be answered${last.rule === undefined ? "" : ` (${last.rule})`}`,
    remedy: `\`signalbox why ${last.id}\` says what to do; \`signalbox doctor --models\` tries the model.`,
  };
}

/** Ends of messages that an agent was asked about. */
const ASKED: ReadonlySet<MessageInfo["state"]> = new Set(["replied", "silent", "failed-reported"]);

/** What of the file does not apply to the gateway that runs. */
function configurationFindings({ forStart, kept }: ConfigurationState): Finding[] {
  const part = "running configuration";
  const restart: Finding = {
    part,
    state: "warning",
    detail: `${forStart.join(", ")} has changed since the start, and is of no effect before a restart`,
    remedy:
      "Stop the gateway and start it again; `systemctl --user restart signalbox` where it is a service.",
  };
  const correct: Finding = {
    part,
    state: "warning",
    detail: `as before the last change, in which something is wrong: ${kept.join(", ")}`,
    remedy: "Correct it; `signalbox config check` says what is wrong, and the gateway reads it at once.",
  };
  return [...(forStart.length > 0 ? [restart] : []), ...(kept.length > 0 ? [correct] : [])];
}
