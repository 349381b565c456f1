import type { AccountCheck, ChannelContext, Health } from "../contract/definition.ts";

/** A request that is not authenticated. */
export interface ForgedRequest {
  readonly kind: "forged";
  /** Written to the log. */
  readonly reason: string;
  /**
   * The settings to compare with the platform's, and where it shows them. Give it only if the request has the form of
   * the platform's own requests, because an account is then `degraded` until an event is verified. Default: the request
   * says nothing about the account.
   */
  readonly remedy?: string;
}

/** Records whether the requests to the webhook of an account are authenticated, from the start of the account. */
export interface WebhookMonitor {
  /** Time of the last verified event, in milliseconds since the epoch. */
  readonly receivedAt: number | undefined;
  /** Records a verified event. Refused requests no longer matter then, because the account's secrets are right. */
  onEvent(): void;
  /** Records the platform's successful verification of the URL. */
  onChallenge(): void;
  /** Records a refused request. Logs a warning for the first one, because anyone can send such requests. */
  onRefused(request: ForgedRequest, kind: "event" | "challenge"): void;
  /** Returns `degraded` if requests were refused before any event was verified. */
  health(): Health | undefined;
  /** Reports the last event or the refused requests. */
  check(): AccountCheck;
}

interface Refusal {
  readonly reason: string;
  readonly remedy: string;
}

/**
 * Creates the monitor of an account's webhook. Pass it to `createWebhook`, return its health as the account's
 * connection, and add its check to those of the account.
 *
 * @param platform the platform's display name, for instance `Slack`
 */
export function createWebhookMonitor(
  platform: string,
  { clock, logger }: Pick<ChannelContext, "clock" | "logger">,
): WebhookMonitor {
  const refusals = new Map<"event" | "challenge", Refusal>();
  let receivedAt: number | undefined;

  function getRefusal(): Refusal | undefined {
    return receivedAt === undefined ? (refusals.get("event") ?? refusals.get("challenge")) : undefined;
  }

  function describe({ reason }: Refusal): string {
    return `${platform}'s requests are refused, and none was accepted since the start: ${reason}`;
  }

  return {
    get receivedAt() {
      return receivedAt;
    },
    onEvent() {
      receivedAt = clock.now();
      refusals.clear();
    },
    onChallenge: () => void refusals.delete("challenge"),
    onRefused({ reason, remedy }, kind) {
      if (remedy === undefined || receivedAt !== undefined) return;
      const isFirst = !refusals.has(kind);
      refusals.set(kind, { reason, remedy });
      if (isFirst) logger.warn("refused a webhook request", { reason, remedy });
    },
    health() {
      const refusal = getRefusal();
      return refusal && { state: "degraded", reason: `${describe(refusal)}. ${refusal.remedy}` };
    },
    check() {
      const about = "received";
      const refusal = getRefusal();
      if (refusal !== undefined)
        return { about, ok: false, detail: describe(refusal), remedy: refusal.remedy };
      const detail =
        receivedAt === undefined
          ? `no event was received from ${platform} since the account started. Write to the bot to see whether they arrive`
          : `the last event from ${platform} was received at ${new Date(receivedAt).toISOString()}`;
      return { about, ok: true, detail };
    },
  };
}
