import type { MessageWithFiles } from "@signalbox/attachments";
import { toFolderName } from "@signalbox/tools";
import type { QueuedMessage } from "../../messages/queued-message.ts";

/**
 * Describes a message's attachments. Attachments from guests are not stored, because anyone in an open group is a
 * guest.
 */
export function getMessageFiles({
  id,
  agentId,
  sessionKey,
  stored: { event, role },
}: QueuedMessage): MessageWithFiles {
  return { id, event, agentId, role, conversation: role === "guest" ? undefined : toFolderName(sessionKey) };
}
