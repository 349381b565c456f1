import {
  createBlobs,
  createIncoming,
  createOutgoing,
  type Incoming,
  type Inspector,
  type Outgoing,
} from "@signalbox/attachments";
import type { Config } from "@signalbox/config";
import { type Home, pruneSentBlobs } from "@signalbox/home";
import type { Account, Agents } from "@signalbox/setup";
import type { Logger } from "@signalbox/telemetry/logger";
import { type AgentWorkspaces, detectEncoding, type GuardedFetch, imageInfo } from "@signalbox/tools";
import { messageOf } from "../errors.ts";
import { createReadLinks, type ReadLinks } from "../path/5-prepare/links.ts";
import { openUploads } from "../resolve/surfaces.ts";
import type { GatewayStore } from "../store.ts";

/** Attachments and links on the way of a message. */
export interface Media {
  readonly out: Outgoing;
  readonly in: Incoming;
  readonly readLinks: ReadLinks;
  /** Removes what nothing needs any more. Never rejects. */
  prune(): Promise<void>;
}

export interface MediaOptions {
  /** Asked for each file and each message. */
  readonly config: () => Pick<Config, "retention" | "links">;
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
  const uploads = openUploads(home, now);
  const folder = (agentId: string) => {
    const agent = agents.get(agentId);
    return agent === undefined
      ? Promise.reject(new Error(`there is no agent ${agentId}`))
      : workspaces(agent);
  };
  const kept = () => {
    const { attachments: files, attachmentsMegabytes, attachmentsDays } = config().retention;
    return {
      files,
      bytes: attachmentsMegabytes * 1_000_000,
      ...(attachmentsDays === undefined ? {} : { ms: attachmentsDays * 86_400_000 }),
    };
  };
  const inspector: Inspector = { imageInfo, detectEncoding };
  const incoming = createIncoming({ account, folder, kept, inspector, logger });
  return {
    out: createOutgoing({ blobs, folder, fetch, inspector, logger }),
    in: incoming,
    readLinks: createReadLinks(() => config().links, fetch, logger),
    async prune() {
      try {
        const removed = await pruneSentBlobs(store, blobs, now);
        if (removed > 0) logger.debug({ removed }, "attachments that were sent were removed");
        await uploads.prune();
      } catch (error) {
        logger.warn({ err: messageOf(error) }, "old attachments could not be removed");
      }
      await incoming.clear(agents.all.map(({ id }) => id));
    },
  };
}
