import type { UserMessage } from "@signalbox/agent-core";
import type { Incoming, MediaForModel } from "@signalbox/attachments";
import type { MessageContext } from "@signalbox/prompt";
import { broughtWith, NOTHING_READ } from "./inbound-context.ts";
import type { OpenedRun } from "./opened-run.ts";

/** Images shown with a message of a turn that the client keeps itself. */
interface EarlierImage extends MessageContext, Pick<MediaForModel, "untrusted"> {
  readonly message: UserMessage;
}

/**
 * The pictures of turns that a client keeps itself, where they are files. The conversation began with those turns; a
 * picture that the event held stands in its message.
 */
export async function getEarlierImages(
  incoming: Pick<Incoming, "show">,
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
        found.push({ ...media, message, text: broughtWith({ ...NOTHING_READ, media }) });
    }
  }
  return found;
}
