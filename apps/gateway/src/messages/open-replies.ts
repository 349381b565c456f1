import type { ServiceStore } from "./service-store.ts";

/** A reply that is committed but not known to be delivered. */
interface OpenReply {
  readonly state: "sending" | "uncertain";
  /** The platform's last error. Absent before the first attempt has failed. */
  readonly error?: string | undefined;
}

/** Open replies by the id of the message that they answer. */
export type OpenReplies = ReadonlyMap<string, OpenReply>;

/** Maximum number of rows to read. Older rows belong to messages that lists no longer show. */
const MAX_ROWS = 100;

/** Reads the replies that wait to be sent, or that may or may not have been delivered. */
export async function readOpenReplies({ outbox }: Pick<ServiceStore, "outbox">): Promise<OpenReplies> {
  const rows = await outbox.list({ states: ["pending", "sending", "uncertain"], limit: MAX_ROWS });
  const answered = await Promise.all(rows.map(({ id }) => outbox.answers(id)));
  const replies = new Map<string, OpenReply>();
  for (const [at, { state, error }] of rows.entries()) {
    const reply: OpenReply = { state: state === "uncertain" ? "uncertain" : "sending", error };
    for (const id of answered[at] ?? []) if (replies.get(id)?.state !== "sending") replies.set(id, reply);
  }
  return replies;
}
