import type { Raw } from "../raw.ts";
import { type ApiReply, badRequest, ok, refuse } from "./reply.ts";

/** Minimum delay between two attempts to deliver an update to a webhook, in milliseconds. */
const REDELIVERY_MS = 200;

interface Waiting {
  readonly update: Raw;
  readonly confirmed: () => void;
}

/**
 * Updates for the bot, delivered by `getUpdates`, which returns them until a request has a higher offset, or by a
 * webhook, which excludes polling. Source: "Getting updates" of the reference.
 */
export class UpdateQueue {
  #waiting: Waiting[] = [];
  #webhook: { readonly url: string; readonly secret: string } | undefined;
  /** Ends the open request for updates with a response. */
  #open: ((reply: ApiReply | undefined) => void) | undefined;
  #allowed: readonly unknown[] | undefined;
  /** The last failure of the webhook. It is reported even after a success. */
  #failure: { readonly date: number; readonly message: string } | undefined;
  #isDelivering = false;
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  pending(): number {
    return this.#waiting.length;
  }

  push(update: Raw): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (!this.#comes(update)) return Promise.resolve();
    this.#waiting.push({ update, confirmed: resolve });
    this.#waiting.sort((a, b) => numberOf(a.update) - numberOf(b.update));
    this.#open?.(undefined);
    void this.#deliver();
    return promise;
  }

  async get(values: Raw): Promise<ApiReply> {
    if (this.#webhook !== undefined)
      return refuse(
        409,
        "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook first",
      );
    this.conflict();
    const { offset, limit = 100, timeout = 0, allowed_updates: allowed } = values;
    if (Array.isArray(allowed)) this.#allowed = allowed;
    if (typeof offset === "number") this.#confirm(offset);
    if (this.#waiting.length === 0 && Number(timeout) > 0) {
      const ended = await this.#untilPushed(Number(timeout) * 1_000);
      if (ended !== undefined) return ended;
    }
    return ok(this.#waiting.slice(0, Number(limit)).map(({ update }) => update));
  }

  /** Ends the open request for updates, because another one arrived. */
  conflict(): void {
    this.#open?.(
      refuse(
        409,
        "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
      ),
    );
  }

  stop(): void {
    this.#webhook = undefined;
    this.#open?.(ok([]));
  }

  setWebhook({ url, secret_token: secret = "", allowed_updates: allowed }: Raw): ApiReply {
    if (typeof url !== "string") return badRequest("parameter url is required");
    if (url !== "" && !/^https:|^http:\/\/(?:127\.0\.0\.1|localhost)[:/]/.test(url))
      return badRequest("bad webhook: An HTTPS URL must be provided for webhook");
    if (!/^[A-Za-z0-9_-]{0,256}$/.test(String(secret)))
      return badRequest("secret token contains illegal characters");
    this.#webhook = url === "" ? undefined : { url, secret: String(secret) };
    if (Array.isArray(allowed)) this.#allowed = allowed;
    this.conflict();
    void this.#deliver();
    return ok(true);
  }

  deleteWebhook({ drop_pending_updates: drop }: Raw): ApiReply {
    this.#webhook = undefined;
    if (drop === true) this.#waiting = [];
    return ok(true);
  }

  webhookInfo(): Raw {
    return {
      url: this.#webhook?.url ?? "",
      has_custom_certificate: false,
      pending_update_count: this.#waiting.length,
      ...(this.#failure && {
        last_error_date: this.#failure.date,
        last_error_message: this.#failure.message,
      }),
    };
  }

  /** Posts the updates to the webhook in order, and repeats an update until it is answered with a 2xx status. */
  async #deliver(): Promise<void> {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      if (this.#webhook === undefined) break;
      const message = await findDeliveryFailure(this.#webhook, next.update);
      if (message === undefined) this.#confirm(numberOf(next.update) + 1);
      else {
        this.#failure = { date: Math.floor(this.#now() / 1_000), message };
        await new Promise((resolve) => setTimeout(resolve, REDELIVERY_MS).unref());
      }
    }
    this.#isDelivering = false;
  }

  #comes(update: Raw): boolean {
    return this.#allowed === undefined || this.#allowed.some((type) => update[String(type)] !== undefined);
  }

  #confirm(offset: number): void {
    const isDone = ({ update }: Waiting) => numberOf(update) < offset;
    for (const { confirmed } of this.#waiting.filter(isDone)) confirmed();
    this.#waiting = this.#waiting.filter((entry) => !isDone(entry));
  }

  async #untilPushed(ms: number): Promise<ApiReply | undefined> {
    const { promise, resolve } = Promise.withResolvers<ApiReply | undefined>();
    const timer = setTimeout(() => resolve(undefined), ms);
    this.#open = resolve;
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      if (this.#open === resolve) this.#open = undefined;
    }
  }
}

/** Delivers an update. Only loopback addresses are called; every other host is reported as unknown. */
async function findDeliveryFailure(
  { url, secret }: { readonly url: string; readonly secret: string },
  update: Raw,
): Promise<string | undefined> {
  if (!/^https?:\/\/(?:127\.0\.0\.1|localhost)[:/]/.test(url))
    return "Failed to resolve host: Name or service not known";
  try {
    const {
      ok: isOk,
      status,
      statusText,
    } = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(secret !== "" && { "x-telegram-bot-api-secret-token": secret }),
      },
      body: JSON.stringify(update),
    });
    return isOk ? undefined : `Wrong response from the webhook: ${status} ${statusText}`;
  } catch {
    return "Connection refused";
  }
}

function numberOf(update: Raw): number {
  return Number(update["update_id"]);
}
