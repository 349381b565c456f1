import {
  createBlobs,
  createIncoming,
  createOutgoing,
  type Incoming,
  type Inspector,
  type Outgoing,
} from "@signalbox/attachments";
import type { Config } from "@signalbox/config";
import type { Home } from "@signalbox/home";
import type { Account, Agents } from "@signalbox/setup";
import { type AgentWorkspaces, detectEncoding, type GuardedFetch, imageInfo } from "@signalbox/tools";
import type { Logger } from "../log.ts";
import { createReadLinks, type ReadLinks } from "../path/5-prepare/links.ts";
import type { GatewayStore } from "../store.ts";
import { pruneSentBlobs } from "../upkeep/blobs.ts";

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
  readonly workspaces: AgentWorkspaces;
  readonly store: GatewayStore;
  readonly agents: Agents;
  readonly fetch: GuardedFetch;
  readonly account: (channel: string, account: string) => Account | undefined;
  readonly logger: Logger;
  readonly now: () => number;
}

export function createMedia(options: MediaOptions): Media {
  const { config, home, workspaces, store, agents, fetch, account, logger, now } = options;
  const blobs = createBlobs(home.mediaDir);
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
      await pruneSentBlobs(store, blobs, logger, now);
      await incoming.clear(agents.all.map(({ id }) => id));
    },
  };
}
