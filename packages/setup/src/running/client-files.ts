import { join } from "node:path";
import { createUploads, type UploadName, type Uploads } from "@signalbox/attachments";
import type { MessageEvent } from "@signalbox/channel";
import { MAX_ATTACHMENT_BYTES, uploadIn } from "@signalbox/channel-web";
import type { Home } from "@signalbox/home";

/** Files of the gateway's own clients. */
export interface ClientFiles {
  /** Those that they upload. */
  readonly uploads: Uploads;
  /** Those that their requests hold. */
  readonly carried: Uploads;
}

/** In the home; one process at a time works on them. */
export function openClientFiles({ mediaDir }: Pick<Home, "mediaDir">, now: () => number): ClientFiles {
  const inFolder = (name: string) =>
    createUploads({ dir: join(mediaDir, name), maxBytes: MAX_ATTACHMENT_BYTES, now });
  return { uploads: inFolder("uploads"), carried: inFolder("carried") };
}

/** Messages that are to be answered yet. */
export interface Unanswered {
  unfinished(): AsyncIterable<{ readonly payload: { readonly event: Pick<MessageEvent, "media"> } }>;
}

/** The files that they name. */
export async function neededFiles(inbox: Unanswered): Promise<readonly UploadName[]> {
  const needed: UploadName[] = [];
  for await (const { payload } of inbox.unfinished())
    needed.push(...payload.event.media.flatMap((media) => uploadIn(media) ?? []));
  return needed;
}
