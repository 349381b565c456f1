import { join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import {
  type AttachmentLogger,
  createObjectUploads,
  createUploads,
  type UploadName,
  type UploadPiece,
  type Uploads,
} from "@signalbox/attachments";
import type { MediaRef, MessageEvent } from "@signalbox/channel";
import { MAX_ATTACHMENT_BYTES, uploadIn } from "@signalbox/channel-web";
import type { Home } from "@signalbox/home";
import type { ObjectStore } from "@signalbox/store";

/** Files of the gateway's own clients. */
export interface ClientFiles {
  /** Uploaded files. */
  readonly uploads: Uploads;
  /** Files embedded in requests. */
  readonly carried: Uploads;
  /** Stores new files where other gateways can read them. Files in the home can still be read. */
  share(objects: ObjectStore): void;
}

/** Maximum number of files in one request. A request is too small to contain this many large files. */
const MAX_EMBEDDED = 200;

/** Opens the clients' files in the home. Only one process may do so at a time. */
export function openClientFiles(
  { mediaDir }: Pick<Home, "mediaDir">,
  { logger, now }: { readonly logger: Pick<AttachmentLogger, "warn">; readonly now: () => number },
): ClientFiles {
  const limits = { maxBytes: MAX_ATTACHMENT_BYTES, now };
  const dir = join(mediaDir, "carried");
  const carried = createMovable(createUploads({ ...limits, dir, quotaFiles: MAX_EMBEDDED }));
  const uploads = createMovable(createUploads({ ...limits, dir: join(mediaDir, "uploads") }));
  return {
    uploads,
    carried: reportOnce(carried, (error) =>
      logger.warn(
        { err: reasonOf(error) },
        `large files of requests are stored in the inbox, because ${carried.isMoved() ? "the shared storage" : dir} cannot be written: check that the gateway may write there and that there is space`,
      ),
    ),
    share(objects) {
      carried.move(createObjectUploads({ ...limits, objects, name: "carried", quotaFiles: MAX_EMBEDDED }));
      uploads.move(createObjectUploads({ ...limits, objects, name: "uploads" }));
    },
  };
}

/** Creates uploads whose new files can move to another place. Files at the first place can still be read. */
function createMovable(first: Uploads) {
  let current = first;
  return {
    isMoved: () => current !== first,
    move(next: Uploads): void {
      current = next;
    },
    add: (piece: UploadPiece) => current.add(piece),
    open: async (owner: string, id: string) =>
      (await current.open(owner, id)) ?? (current === first ? undefined : first.open(owner, id)),
    async remove(owner: string) {
      await Promise.all([...new Set([first, current])].map((files) => files.remove(owner)));
    },
    async prune(needed: () => Promise<readonly UploadName[]>) {
      const removed = [...new Set([first, current])].map((files) => files.prune(needed));
      return (await Promise.all(removed)).reduce((sum, count) => sum + count, 0);
    },
  };
}

/** Reports a full disk once, until writing succeeds again. */
function reportOnce(files: Uploads, say: (error: unknown) => void): Uploads {
  let isSaid = false;
  return {
    async add(piece) {
      try {
        const added = await files.add(piece);
        isSaid = false;
        return added;
      } catch (error) {
        if (!isSaid) say(error);
        isSaid = true;
        throw error;
      }
    },
    open: (owner, id) => files.open(owner, id),
    remove: (owner) => files.remove(owner),
    prune: (needed) => files.prune(needed),
  };
}

type NamesFiles = Pick<MessageEvent, "media" | "turn">;

/** Unfinished messages. */
export interface Unanswered {
  unfinished(): AsyncIterable<{ readonly payload: { readonly event: NamesFiles } }>;
}

/** Returns the files that unfinished messages refer to. */
export async function neededFiles(inbox: Unanswered): Promise<readonly UploadName[]> {
  const needed: UploadName[] = [];
  for await (const { payload } of inbox.unfinished())
    needed.push(...namedBy(payload.event).flatMap((file) => uploadIn(file) ?? []));
  return needed;
}

function namedBy({ media, turn }: NamesFiles): readonly MediaRef[] {
  const images = (turn?.history ?? []).flatMap(({ images = [] }) => images);
  return [...media, ...images.filter((picture) => "ref" in picture)];
}
