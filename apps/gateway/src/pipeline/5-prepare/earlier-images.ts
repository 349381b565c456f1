import type { UserMessage } from "@signalbox/agent-core";
import type { Incoming, MediaForModel } from "@signalbox/attachments";
import type { MessageContext } from "@signalbox/prompt";
import { formatReadContent, NOTHING_READ } from "./inbound-context.ts";
import type { OpenedRun } from "./opened-run.ts";

/** Images that a client sent with a message in the history. */
interface EarlierImage extends MessageContext, MediaForModel {
  readonly message: UserMessage;
}

/**
 * Reads the images of earlier turns that a client sent as files. Images embedded in the event are already part of their
 * message.
 */
export async function getEarlierImages(
  incoming: Incoming,
  { agentModel, messages, history, seqs }: OpenedRun,
): Promise<readonly EarlierImage[]> {
  const found: EarlierImage[] = [];
  for (const { id, agentId, stored } of messages) {
    const { event } = stored;
    for (const [turn, { images = [] }] of (event.turn?.history ?? []).entries()) {
      const files = images.filter((image) => "ref" in image);
      const message = history[seqs.indexOf(turn + 1)];
      if (files.length === 0 || message?.role !== "user" || message.timestamp !== event.timestamp) continue;
      const earlier = { id: `${id} turn ${turn}`, event: { ...event, media: files }, agentId };
      for (const media of await incoming.show([earlier], agentModel.model.input))
        found.push({ ...media, message, text: formatReadContent({ ...NOTHING_READ, media }) });
    }
  }
  return found;
}
