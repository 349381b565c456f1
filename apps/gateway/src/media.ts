import type { Config } from "@signalbox/config";
import { createGuardedFetch, type GuardedFetch } from "@signalbox/tools";
import type { Agents } from "./agents.ts";
import { createBlobs } from "./blobs.ts";
import type { Account } from "./channels.ts";
import type { Home } from "./home.ts";
import type { Logger } from "./log.ts";
import { createLinks, type Links } from "./path/links.ts";
import { createMediaIn, type MediaIn } from "./path/media-in.ts";
import { createMediaOut, type MediaOut, pruneMedia } from "./path/media-out.ts";
import type { GatewayStore } from "./path/stored.ts";
import { createWorkspaces } from "./workspaces.ts";

/** Attachments and links on the way of a message. */
export interface Media {
  readonly out: MediaOut;
  readonly in: MediaIn;
  readonly links: Links;
  /** The one way from the gateway to addresses that people or models name. */
  readonly fetch: GuardedFetch;
  /** Removes what nothing needs any more. Never rejects. */
  prune(): Promise<void>;
}

export interface MediaOptions {
  readonly config: Config;
  readonly home: Home;
  readonly store: GatewayStore;
  readonly agents: Agents;
  readonly account: (channel: string, account: string) => Account | undefined;
  readonly logger: Logger;
  readonly now: () => number;
}

/** The largest attachment that any channel takes is far below. */
const MOST_BYTES = 200_000_000;

export function createMedia({ config, home, store, agents, account, logger, now }: MediaOptions): Media {
  const blobs = createBlobs(home.mediaDir);
  const workspaces = createWorkspaces(home);
  const { allow, timeoutMs } = config.tools.web;
  const fetch = createGuardedFetch({ allow, timeoutMs, maxBytes: MOST_BYTES });
  const { attachments: files, attachmentsMegabytes, attachmentsDays } = config.retention;
  const kept = {
    ...{ files, bytes: attachmentsMegabytes * 1_000_000 },
    ...(attachmentsDays === undefined ? {} : { ms: attachmentsDays * 86_400_000 }),
  };
  const mediaIn = createMediaIn({ account, agents, workspaces, kept, logger });
  return {
    out: createMediaOut({ blobs, workspaces, fetch, logger }),
    in: mediaIn,
    links: createLinks({ config: config.links, fetch, logger }),
    fetch,
    async prune() {
      await pruneMedia(store, blobs, logger, now);
      await mediaIn.clear();
    },
  };
}
