import {
  type Client,
  type ClusterState,
  type ConfigurationState,
  isClientError,
  type SeatInfo,
  type Status,
} from "@signalbox/client";
import type { CommonOptions } from "../common-options.ts";
import { print } from "../output.ts";
import { readRefusal, runningGateway } from "../running.ts";

/** `signalbox status`: prints the status of the running gateway. */
export async function status(options: CommonOptions): Promise<void> {
  const { client, running } = await runningGateway(options.home);
  const [status, cluster, refusal] = await Promise.all([
    client.status(),
    readCluster(client),
    readRefusal(running),
  ]);
  const now = Date.now();
  print(options.json, { ...running, ...status, refusal, cluster }, () => [
    `Signalbox ${status.version} at ${running.url} (process ${running.pid}), since ${new Date(status.startedAt).toISOString()}`,
    ...(refusal === undefined
      ? []
      : [`refuses messages, because ${refusal}; the platforms deliver them again later`]),
    ...(status.newerVersion === undefined
      ? []
      : [`update  ${status.newerVersion} is available; the guide to operations says how to upgrade`]),
    ...status.agents.map(
      (agent) => `agent   ${agent.id}: ${agent.demo ? "offline demo model" : agent.model}`,
    ),
    ...status.channels.map(
      ({ channel, account, state, reason }) =>
        `channel ${channel}/${account}: ${state}${reason ? ` (${reason})` : ""}`,
    ),
    ...configurationLines(status.configuration),
    ...(cluster === undefined ? [] : clusterLines(cluster, now)),
    waitingLine(status, cluster, now),
  ]);
}

/** Returns undefined if the running gateway has an earlier version, as before its restart in an upgrade. */
async function readCluster(client: Client): Promise<ClusterState | undefined> {
  try {
    return await client.nodes();
  } catch (error) {
    if (isClientError(error) && error.status === 404) return undefined;
    throw error;
  }
}

/** Describes the gateways that share the store, and what each of them runs. */
function clusterLines({ shared, nodes, seats }: ClusterState, now: number): string[] {
  if (!shared) return [];
  return nodes.map(({ id, name = id, self, state, version, labels, seenAt, ...node }) => {
    const own = seats.filter((seat) => seat.node === id);
    const lag = formatAge(now - seenAt);
    return [
      `node    ${name}: ${state}${self ? " (this one)" : ""}`,
      version,
      ...(labels.length === 0 ? [] : [`labels ${labels.join(" ")}`]),
      `seen ${lag} ago`,
      ...own.map((seat) => describeSeat(seat, now)),
      `database ${node.latencyMs} ms`,
      `clock ${node.clockSkewMs} ms`,
      `${node.takeovers} takeovers`,
      `${node.fencedWrites} times fenced`,
      `configuration ${node.configuration}`,
    ].join(", ");
  });
}

function describeSeat({ kind, name, since, expired }: SeatInfo, now: number): string {
  const subject = kind === name ? kind : `${kind} ${name}`;
  return expired ? `lost ${subject}` : `${subject} for ${formatAge(now - since)}`;
}

function waitingLine(
  { inboxPending, outboxPending }: Status,
  { oldestMessageAt, oldestReplyAt }: Partial<ClusterState> = {},
  now: number,
): string {
  const age = (at: number | undefined): string =>
    at === undefined ? "" : ` (oldest ${formatAge(now - at)})`;
  return `waiting ${inboxPending} messages to answer${age(oldestMessageAt)}, ${outboxPending} replies to deliver${age(oldestReplyAt)}`;
}

const SECOND_MS = 1_000;
const UNITS = [
  ["d", 86_400],
  ["h", 3_600],
  ["min", 60],
] as const;

/** Formats a duration with its largest unit, such as `3 min`. */
function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / SECOND_MS));
  const [unit, size] = UNITS.find(([, length]) => seconds >= length) ?? ["s", 1];
  return `${Math.floor(seconds / size)} ${unit}`;
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
