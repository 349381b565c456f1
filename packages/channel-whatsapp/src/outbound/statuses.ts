import { createHash } from "node:crypto";
import {
  type ChannelContext,
  ChannelError,
  type ChannelErrorCode,
  getPartKey,
  isPayload,
  type ReconcileResult,
  type SendIntent,
  textAt,
} from "@signalbox/channel";
import { limits } from "../limits.ts";

/** A message with one of our keys, as a status webhook or the response to a request reported it. */
export interface ReportedMessage {
  readonly key: string;
  readonly id: string;
  /** The platform's reason if the message was not delivered. */
  readonly failure?: string | undefined;
  /** The code with which the request would have failed. */
  readonly code?: ChannelErrorCode | undefined;
}

/**
 * The messages that Meta has reported under their keys. Each status webhook contains the key of its message, so a
 * message whose response was lost is found once its first status arrives.
 */
export interface Statuses {
  /** Remembers a message. Resolves once it is durable. */
  record(message: ReportedMessage): Promise<void>;
  /**
   * Looks up a message with an unknown outcome.
   *
   * @throws ChannelError `transient` while a status may still arrive; the reason if the message was not delivered
   */
  find(intent: SendIntent): Promise<ReconcileResult>;
}

/** Codes that end a message for good. */
const FINAL: readonly ChannelErrorCode[] = ["permission", "not_found", "too_large", "unsupported", "invalid"];

/**
 * Stores messages in a fixed number of slots, which are chosen by a hash of the key, so that the state does not grow. A
 * message that is overwritten cannot be found after a restart, and its outcome stays unknown.
 */
export function createStatuses({
  state,
  clock,
  config,
}: Pick<ChannelContext<{ readonly phoneNumberId: string }>, "state" | "clock" | "config">): Statuses {
  const recent = new Map<string, ReportedMessage>();
  const startedAt = clock.now();

  function slotOf(key: string): string {
    const number = createHash("sha256").update(key).digest().readUInt32BE(0) % limits.storedStatuses;
    return `${config.phoneNumberId}/status/${number}`;
  }

  async function read(key: string): Promise<ReportedMessage | undefined> {
    const found = recent.get(key);
    if (found !== undefined) return found;
    const stored = await state.get(slotOf(key));
    if (!isPayload(stored) || stored["key"] !== key) return undefined;
    const id = textAt(stored, "id");
    const failure = textAt(stored, "failure");
    const code = FINAL.find((one) => one === stored["code"]);
    return id === undefined ? undefined : { key, id, failure, code };
  }

  return {
    async record(message) {
      const { key, id, failure, code } = message;
      const known = recent.get(key);
      // Later statuses of a message, such as `read`, add nothing.
      if (known?.id === id && (failure === undefined || known.failure !== undefined)) return;
      await state.set(slotOf(key), { key, id, failure: failure || undefined, code: code || undefined });
      recent.delete(key);
      recent.set(key, message);
      const oldest = recent.size > limits.remembered ? recent.keys().next().value : undefined;
      if (oldest !== undefined) recent.delete(oldest);
    },

    async find({ idempotencyKey, part, attemptedAt }) {
      const found = await read(getPartKey(idempotencyKey, part));
      if (found?.failure !== undefined) {
        const code = FINAL.find((one) => one === found.code) ?? "invalid";
        throw new ChannelError(code, `WhatsApp: the message was not delivered: ${found.failure}`);
      }
      if (found !== undefined) return { outcome: "sent", messageId: found.id };
      // Statuses from before the start are delivered again.
      const waitedMs = clock.now() - Math.max(attemptedAt, startedAt);
      if (waitedMs >= limits.statusWaitMs) return { outcome: "unknown" };
      throw new ChannelError("transient", "WhatsApp: no status of the message has arrived yet", {
        retryAfterMs: limits.statusLookupMs,
      });
    },
  };
}

/** Returns true for a key that `getPartKey` creates. Other programs may use the same number with other values. */
export function isKey(callbackData: string): boolean {
  return /^[\w-]{1,20}\.\d{1,4}$/.test(callbackData);
}
