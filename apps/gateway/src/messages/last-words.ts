import type { InboxId } from "@signalbox/store";
import type { ServiceStore } from "./service-store.ts";

/** How far back is looked. */
const LOOKED_AT = 20;

/** What somebody wrote last in a conversation, commands apart: those are the same letters in every language. */
export async function lastWords(
  { inbox }: { readonly inbox: Pick<ServiceStore["inbox"], "list"> },
  person: { readonly sessionKey: string; readonly senderId: string },
  before?: InboxId,
): Promise<string> {
  const { sessionKey } = person;
  const rows = await inbox.list({
    sessionKey,
    limit: LOOKED_AT,
    ...(before === undefined ? {} : { before }),
  });
  // What woke the agent in their name has no message of theirs.
  const said = rows.find(
    ({ messageId, senderId, payload: { event } }) =>
      messageId !== undefined && senderId === person.senderId && !event.text.startsWith("/"),
  );
  return said?.payload.event.text ?? "";
}
