import { isRaw } from "../raw.ts";
import { type ApiReply, refusals, refuse } from "./reply.ts";

export interface TokensOptions {
  readonly appId: string;
  readonly appSecret: string;
  /** Lifetime of a token, in seconds. */
  readonly seconds: number;
  readonly now: () => number;
}

/** An app's access tokens. */
export class Tokens {
  readonly #options: TokensOptions;
  /** Expiry of each token. */
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

  /** Returns the error for a call without a valid token. */
  refusal(authorization: string | undefined): ApiReply | undefined {
    const token = /^Bearer (.+)$/.exec(authorization ?? "")?.[1];
    if (token === undefined) return refusals.missingToken();
    return (this.#given.get(token) ?? 0) > this.#options.now() ? undefined : refusals.invalidToken();
  }

  /** Expires all tokens. */
  expire(): void {
    this.#given.clear();
  }
}
