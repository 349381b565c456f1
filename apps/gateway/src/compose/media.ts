import {
  type Blobs,
  blobsOf,
  createBlobs,
  createIncoming,
  createOutgoing,
  type Incoming,
  type Inspector,
  type MessageWithFiles,
  type Outgoing,
  pruneBlobs,
} from "@signalbox/attachments";
import type { Config } from "@signalbox/config";
import type { Home } from "@signalbox/home";
import {
  createGuardedFetch,
  detectEncoding,
  type FileLabels,
  folderFor,
  type GuardedFetch,
  imageInfo,
} from "@signalbox/tools";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { QueuedMessage } from "../path/4-queue/message.ts";
import { createReadLinks, type ReadLinks } from "../path/5-prepare/links.ts";
import type { Account } from "../resolve/accounts.ts";
import type { Agents } from "../resolve/agents.ts";
import type { GatewayStore } from "../store.ts";
import { createWorkspaces } from "../tools/workspaces.ts";

/** Attachments and links on the way of a message. */
export interface Media {
  readonly out: Outgoing;
  readonly in: Incoming;
  readonly readLinks: ReadLinks;
  /** Removes what nothing needs any more. Never rejects. */
  prune(): Promise<void>;
}

export interface MediaOptions {
  readonly config: Config;
  readonly home: Home;
  readonly labels: FileLabels;
  readonly store: GatewayStore;
  readonly agents: Agents;
  readonly fetch: GuardedFetch;
  readonly account: (channel: string, account: string) => Account | undefined;
  readonly logger: Logger;
  readonly now: () => number;
}

/** The largest attachment that any channel takes is far below. */
const MOST_BYTES = 200_000_000;

/** The one way from the gateway to addresses that people or models name. */
export function createWebFetch({ tools: { web } }: Config): GuardedFetch {
  const { allow, timeoutMs } = web;
  return createGuardedFetch({ allow, timeoutMs, maxBytes: MOST_BYTES });
}

export function createMedia(options: MediaOptions): Media {
  const { config, home, labels, store, agents, fetch, account, logger, now } = options;
  const blobs = createBlobs(home.mediaDir);
  const workspaces = createWorkspaces(home, labels);
  const folder = (agentId: string) => {
    const agent = agents.get(agentId);
    return agent === undefined
      ? Promise.reject(new Error(`there is no agent ${agentId}`))
      : workspaces(agent);
  };
  const { attachments: files, attachmentsMegabytes, attachmentsDays } = config.retention;
  const kept = {
    ...{ files, bytes: attachmentsMegabytes * 1_000_000 },
    ...(attachmentsDays === undefined ? {} : { ms: attachmentsDays * 86_400_000 }),
  };
  const inspector: Inspector = { imageInfo, detectEncoding };
  const incoming = createIncoming({ account, folder, kept, inspector, logger });
  return {
    out: createOutgoing({ blobs, folder, fetch, inspector, logger }),
    in: incoming,
    readLinks: createReadLinks(config.links, fetch, logger),
    async prune() {
      await pruneMedia(store, blobs, logger, now);
      await incoming.clear(agents.all.map(({ id }) => id));
    },
  };
}

/** The attachments of a message. What guests send is not kept: anybody in an open group is one. */
export function filesOf({
  id,
  agentId,
  sessionKey,
  stored: { event, role },
}: QueuedMessage): MessageWithFiles {
  return { id, event, agentId, ...(role === "guest" ? {} : { keptIn: folderFor(sessionKey) }) };
}

/** The blobs of replies that have not gone out, also of those that were given up: they may be sent after all. */
export async function neededBlobs(store: GatewayStore): Promise<ReadonlySet<string>> {
  const states = ["pending", "sending", "dead", "uncertain", "expired"] as const;
  const rows = await store.outbox.list({ states, limit: Number.MAX_SAFE_INTEGER });
  return new Set(rows.flatMap(({ payload }) => blobsOf(payload.parts)));
}

async function pruneMedia(
  store: GatewayStore,
  blobs: Blobs,
  logger: Logger,
  now: () => number,
): Promise<void> {
  try {
    const removed = await pruneBlobs(blobs, () => neededBlobs(store), now());
    if (removed > 0) logger.debug({ removed }, "attachments that were sent were removed");
  } catch (error) {
    logger.warn({ err: messageOf(error) }, "old attachments could not be removed");
  }
}
