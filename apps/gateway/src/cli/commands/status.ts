import type { ConfigurationState } from "@signalbox/client";
import type { CommonOptions } from "../common-options.ts";
import { print } from "../output.ts";
import { runningGateway } from "../running.ts";

/** `signalbox status`: prints the status of the running gateway. */
export async function status(options: CommonOptions): Promise<void> {
  const { client, running } = await runningGateway(options.home);
  const status = await client.status();
  print(options.json, { ...running, ...status }, () => [
    `Signalbox ${status.version} at ${running.url} (process ${running.pid}), since ${new Date(status.startedAt).toISOString()}`,
    ...status.agents.map(
      (agent) => `agent   ${agent.id}: ${agent.demo ? "offline demo model" : agent.model}`,
    ),
    ...status.channels.map(
      ({ channel, account, state, reason }) =>
        `channel ${channel}/${account}: ${state}${reason ? ` (${reason})` : ""}`,
    ),
    ...configurationLines(status.configuration),
    `waiting ${status.inboxPending} messages to answer, ${status.outboxPending} replies to deliver`,
  ]);
}

/** Lists the settings in the configuration file that are not in effect. */
function configurationLines({ forStart, kept, errors }: ConfigurationState): string[] {
  return [
    ...(forStart.length === 0 ? [] : [`changed ${forStart.join(", ")}: takes effect after a restart`]),
    ...(kept.length === 0
      ? []
      : [
          `stale   ${kept.join(", ")}: the previous values stay in effect; \`signalbox config check\` shows the errors`,
        ]),
    ...errors.map(({ path, message, remedy }) => `error   ${path}: ${message}. ${remedy}`),
  ];
}
