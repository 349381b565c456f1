import type { MediaForModel, MessageWithFiles } from "@signalbox/attachments";
import { getGroupMedia } from "@signalbox/prompt";
import type { ToldEntry } from "@signalbox/store";
import type { QueuedMessage } from "../../messages/queued-message.ts";

/** Maximum number of earlier group images to show with a message that is addressed to the agent. */
const MAX_IMAGES = 3;

/**
 * Returns the latest images in the group's earlier messages. People refer to them without a reply. They are shown but
 * not stored.
 *
 * @returns `undefined` if no message has images
 */
export function historyImages(
  told: readonly ToldEntry[],
  { id, agentId, stored: { event, role } }: QueuedMessage,
): MessageWithFiles | undefined {
  const images = told.flatMap(getGroupMedia).filter(({ kind }) => kind === "image");
  if (images.length === 0) return undefined;
  const media = images.slice(-MAX_IMAGES);
  return { id: `${id} history`, event: { ...event, media, references: [] }, agentId, role };
}

/** Adds the images of earlier messages to the media of the message that follows them. */
export function withHistoryImages(media: MediaForModel, history: MediaForModel): MediaForModel {
  const earlier = history.files.map((file) => ({
    ...file,
    note: [file.note, "from an earlier message in this group"]
      .filter((note) => note !== undefined)
      .join("; "),
  }));
  return {
    blocks: [...history.blocks, ...media.blocks],
    files: [...media.files, ...earlier],
    untrusted: media.untrusted || history.untrusted,
  };
}
