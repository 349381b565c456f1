import { createBlobs } from "./blobs.ts";
import type { Home } from "./home.ts";
import type { Logger } from "./log.ts";
import { createMediaOut, type MediaOut, pruneMedia } from "./path/media-out.ts";
import type { GatewayStore } from "./path/stored.ts";
import { createWorkspaces } from "./workspaces.ts";

/** Attachments on the way of a message. */
export interface Media {
  readonly out: MediaOut;
  /** Removes what nothing needs any more. Never rejects. */
  prune(): Promise<void>;
}

export interface MediaOptions {
  readonly home: Home;
  readonly store: GatewayStore;
  readonly logger: Logger;
  readonly now: () => number;
}

export function createMedia({ home, store, logger, now }: MediaOptions): Media {
  const blobs = createBlobs(home.mediaDir);
  const workspaces = createWorkspaces(home);
  return {
    out: createMediaOut({ blobs, workspaces, logger }),
    prune: () => pruneMedia(store, blobs, logger, now),
  };
}
