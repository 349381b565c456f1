import type { ConfigurationState } from "@signalbox/client";
import type { CommonOptions } from "../common-options.ts";
import { print } from "../output.ts";
import { runningGateway } from "../running.ts";

/** `signalbox status`: what the running gateway says of itself. */
export async function status(options: CommonOptions): Promise<void> {
  const { client, running } = await runningGateway(options.home);
  const found = await client.status();
  print(options.json, { ...running, ...found }, () => [
    `Signalbox ${found.version} at ${running.url} (process ${running.pid}), since ${new Date(found.startedAt).toISOString()}`,
    ...found.agents.map((agent) => `agent   ${agent.id}: ${agent.demo ? "offline demo model" : agent.model}`),
    ...found.channels.map(
      ({ channel, account, state, reason }) =>
        `channel ${channel}/${account}: ${state}${reason ? ` (${reason})` : ""}`,
    ),
    ...configurationLines(found.configuration),
    `waiting ${found.inboxPending} messages to answer, ${found.outboxPending} replies to deliver`,
  ]);
}

/** What of the file does not apply to it. */
function configurationLines({ forStart, kept }: ConfigurationState): string[] {
  return [
    ...(forStart.length === 0 ? [] : [`changed ${forStart.join(", ")}: of no effect before a restart`]),
    ...(kept.length === 0
      ? []
      : [
          `kept    ${kept.join(", ")}: as before the last change; \`signalbox config check\` says what is wrong`,
        ]),
  ];
}
