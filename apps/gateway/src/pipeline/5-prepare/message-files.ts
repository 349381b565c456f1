import type { MessageWithFiles } from "@signalbox/attachments";
import { toFolderName } from "@signalbox/tools";
import type { GatewayContext } from "../../context.ts";
import type { QueuedMessage } from "../../messages/queued-message.ts";

/**
 * Describes a message's attachments. Attachments from guests are not stored, because anyone in an open group is a
 * guest.
 */
export function getMessageFiles(
  { seats }: Pick<GatewayContext, "seats">,
  { id, agentId, sessionKey, stored: { event, role } }: QueuedMessage,
): MessageWithFiles {
  const folder = seats.getSeat(agentId, sessionKey);
  const conversation = role === "guest" ? undefined : toFolderName(sessionKey);
  return { id, event, agentId, folder, role, conversation };
}
