import type { MessageWithFiles } from "@signalbox/attachments";
import { folderFor } from "@signalbox/tools";
import type { QueuedMessage } from "../../messages/queued-message.ts";

/** The attachments of a message. What guests send is not kept: anyone in an open group is a guest. */
export function getMessageFiles({
  id,
  agentId,
  sessionKey,
  stored: { event, role },
}: QueuedMessage): MessageWithFiles {
  return { id, event, agentId, role, ...(role === "guest" ? {} : { keptIn: folderFor(sessionKey) }) };
}
