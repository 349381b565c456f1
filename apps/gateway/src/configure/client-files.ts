import { join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import { type AttachmentLogger, createUploads, type UploadName, type Uploads } from "@signalbox/attachments";
import type { MediaRef, MessageEvent } from "@signalbox/channel";
import { MAX_ATTACHMENT_BYTES, uploadIn } from "@signalbox/channel-web";
import type { Home } from "@signalbox/home";

/** Files of the gateway's own clients. */
export interface ClientFiles {
  /** Uploaded files. */
  readonly uploads: Uploads;
  /** Files embedded in requests. */
  readonly carried: Uploads;
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
  const carried = reportOnce(createUploads({ ...limits, dir, quotaFiles: MAX_EMBEDDED }), (error) =>
    logger.warn(
      { err: reasonOf(error) },
      `large files of requests are stored in the database, because ${dir} cannot be written: check that the gateway may write there and that the disk has space`,
    ),
  );
  return { uploads: createUploads({ ...limits, dir: join(mediaDir, "uploads") }), carried };
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
