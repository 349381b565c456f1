import { isRaw } from "../raw.ts";
import { type ApiReply, refusals, refuse } from "./reply.ts";

export interface TokensOptions {
  readonly appId: string;
  readonly appSecret: string;
  /** How long a token is good. */
  readonly seconds: number;
  readonly now: () => number;
}

/** The tokens an app calls with. */
export class Tokens {
  readonly #options: TokensOptions;
  /** Until when each is good. */
  readonly #given = new Map<string, number>();
  #count = 0;

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  give(body: unknown): ApiReply {
    const { appId, appSecret, seconds, now } = this.#options;
    const sent = isRaw(body) ? body : {};
    if (typeof sent["app_id"] !== "string" || typeof sent["app_secret"] !== "string")
      return refuse(10003, "invalid param", 200);
    if (sent["app_id"] !== appId || sent["app_secret"] !== appSecret)
      return refuse(10014, "app secret invalid", 200);
    this.#count += 1;
    const token = `t-standin-${this.#count}`;
    this.#given.set(token, now() + seconds * 1000);
    return { status: 200, body: { code: 0, msg: "ok", tenant_access_token: token, expire: seconds } };
  }

  /** What a call without a good token is refused with. */
  refusal(authorization: string | undefined): ApiReply | undefined {
    const token = /^Bearer (.+)$/.exec(authorization ?? "")?.[1];
    if (token === undefined) return refusals.missingToken();
    return (this.#given.get(token) ?? 0) > this.#options.now() ? undefined : refusals.invalidToken();
  }

  /** All given so far are refused from now on. */
  expire(): void {
    this.#given.clear();
  }
}
