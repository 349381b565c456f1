import type { DeliveryMessage } from "@signalbox/delivery";
import type { OutboxReply } from "@signalbox/protocol";
import { type AdminService, ApiError } from "@signalbox/server";
import type { OutboxChange, OutboxRow, OutboxState } from "@signalbox/store";
import type { GatewayContext } from "../../context.ts";

type OutboxAdmin = Pick<AdminService, "outbox" | "retryReply" | "dropReply">;

/** States of replies that were not delivered. */
export const UNDELIVERED: readonly OutboxState[] = ["dead", "uncertain", "expired"];
/** States of replies that will be sent. */
export const OPEN: readonly OutboxState[] = ["pending", "sending"];
/** Maximum number of replies in a list. */
export const MAX_REPLIES = 1_000;
const MAX_TEXT_CHARS = 500;

const REASONS: Readonly<Partial<Record<OutboxState, string>>> = {
  sent: "it was already delivered",
  dead: "the platform accepted it and reported later that it was not delivered. Send the text as a new message with `signalbox send`",
};

/** Explains why a reply in this state cannot be sent again or dropped. */
export function explainRefusal(state: OutboxState): string {
  return REASONS[state] ?? "it is being sent right now";
}

/** Lists replies that are not delivered, sends them again or discards them. */
export function createOutboxAdmin({ store, delivery, audit, redact }: GatewayContext): OutboxAdmin {
  const apply = async (
    id: string,
    action: "retried" | "dropped",
    actor: string,
    change: (id: string) => Promise<OutboxChange>,
  ): Promise<{ readonly was: OutboxState }> => {
    const result = await change(id);
    if (result.outcome === "unknown") throw new ApiError("not_found", `There is no reply ${id}.`);
    if (result.outcome === "refused")
      throw new ApiError("conflict", `${id} cannot be ${action}: ${explainRefusal(result.state)}.`);
    audit.operation({ action, subject: `reply: ${id}`, details: { was: result.state } }, actor);
    delivery.wake();
    return { was: result.state };
  };

  return {
    async outbox(isComplete) {
      const states = isComplete ? [...UNDELIVERED, ...OPEN] : UNDELIVERED;
      const rows = await store.outbox.list({ states, limit: MAX_REPLIES });
      return { replies: rows.map((row) => toReply(row, redact)) };
    },
    retryReply: (id, actor) => apply(id, "retried", actor, (reply) => store.outbox.retry(reply)),
    dropReply: (id, actor) => apply(id, "dropped", actor, (reply) => store.outbox.drop(reply)),
  };
}

/** Returns the text of a reply, without buttons and files. */
function getText({ parts }: DeliveryMessage): string {
  return parts
    .flatMap((part) => ("text" in part && typeof part.text === "string" ? [part.text] : []))
    .join("\n");
}

/** Removes the secret of links with which owners sign in, because tokens that may only read see this text. */
function hideSignIns(text: string): string {
  return text.replace(/([?&]state=)[^&\s]+/g, "$1…");
}

function toReply(row: OutboxRow<DeliveryMessage>, redact: (text: string) => string): OutboxReply {
  const { id, state, channel, account, sessionKey, createdAt, updatedAt, attempts, error, payload } = row;
  return {
    id,
    state,
    channel,
    account,
    sessionKey,
    createdAt,
    updatedAt,
    attempts,
    error: error === undefined ? undefined : redact(error),
    text: hideSignIns(getText(payload)).slice(0, MAX_TEXT_CHARS),
  };
}
