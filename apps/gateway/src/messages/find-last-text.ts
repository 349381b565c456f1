import type { InboxId } from "@signalbox/store";
import type { ServiceStore } from "./service-store.ts";

/** Number of recent messages to search. */
const MAX_SEARCHED = 20;

/**
 * Returns the last text that a person wrote in a session, for language detection. Skips commands, because they are the
 * same in every language.
 */
export async function findLastText(
  { inbox }: { readonly inbox: Pick<ServiceStore["inbox"], "list"> },
  person: { readonly sessionKey: string; readonly senderId: string },
  before?: InboxId,
): Promise<string> {
  const { sessionKey } = person;
  const rows = await inbox.list({
    sessionKey,
    limit: MAX_SEARCHED,
    before,
  });
  // A run started by a trigger has no message from its owner.
  const said = rows.find(
    ({ messageId, senderId, payload: { event } }) =>
      messageId !== undefined && senderId === person.senderId && !event.text.startsWith("/"),
  );
  return said?.payload.event.text ?? "";
}
