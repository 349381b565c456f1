import type { ModelErrorCode, StreamModel } from "@signalbox/agent-core";

/** Cooldowns of a key after a refusal, in milliseconds. */
export interface Cooldowns {
  /** After a rate limit without a delay from the vendor. Default: 30,000. */
  readonly rateLimitMs: number;
  /** Default 3,600,000. */
  readonly billingMs: number;
  /** Default 3,600,000. */
  readonly authMs: number;
}

const DEFAULTS: Cooldowns = { rateLimitMs: 30_000, billingMs: 3_600_000, authMs: 3_600_000 };

/** Maximum cooldown in milliseconds, regardless of the vendor's `retry-after`. */
const MAX_REST_MS = 3_600_000;

/** The state of one key, without the key itself. */
export interface KeyState {
  /** For instance `anthropic#2`. */
  readonly name: string;
  /** The reason for the cooldown, if there is one. */
  readonly cause?: ModelErrorCode;
  /** End of the cooldown in milliseconds since the epoch. */
  readonly restsUntil?: number;
}

/** One key of an account, or the account itself if its server needs no key. */
export interface Key {
  readonly name: string;
  /** Connects on the first call. */
  readonly stream: () => StreamModel;
  restsUntil: number;
  cause: ModelErrorCode | undefined;
}

/** The keys of one account. A key is used until it is refused, because the vendor's prompt cache belongs to it. */
export class KeyRing {
  readonly #keys: readonly Key[];
  readonly #cooldowns: Cooldowns;
  #current = 0;

  /** @param connect creates the stream for a key, or for the account if there are no keys */
  constructor(
    account: string,
    secrets: readonly string[],
    connect: (secret: string | undefined) => StreamModel,
    cooldowns: Partial<Cooldowns> = {},
  ) {
    this.#cooldowns = { ...DEFAULTS, ...cooldowns };
    this.#keys = (secrets.length > 0 ? secrets : [undefined]).map((secret, i) => {
      let stream: StreamModel | undefined;
      const name = `${account}#${i + 1}`;
      return { name, stream: () => (stream ??= connect(secret)), restsUntil: 0, cause: undefined };
    });
  }

  /** Returns a key that is usable now and not among `used`. */
  ready(now: number, used?: ReadonlySet<Key>): Key | undefined {
    const fromCurrent = [...this.#keys.slice(this.#current), ...this.#keys.slice(0, this.#current)];
    const key = fromCurrent.find((key) => key.restsUntil <= now && used?.has(key) !== true);
    if (key !== undefined) this.#current = this.#keys.indexOf(key);
    return key;
  }

  /** Returns the key whose cooldown ends first, even if it has already ended. */
  soonest(): Key {
    return this.#keys.reduce((least, key) => (key.restsUntil < least.restsUntil ? key : least));
  }

  rest(key: Key, cause: ModelErrorCode, retryAfterMs: number | undefined, now: number): void {
    const { billingMs, authMs, rateLimitMs } = this.#cooldowns;
    const refused: { readonly [Code in ModelErrorCode]?: number } = { billing: billingMs, auth: authMs };
    const busyMs = Math.min(retryAfterMs ?? rateLimitMs, MAX_REST_MS);
    key.restsUntil = now + (refused[cause] ?? busyMs);
    key.cause = cause;
  }

  worked(key: Key): void {
    key.restsUntil = 0;
    key.cause = undefined;
  }

  states(now: number): KeyState[] {
    return this.#keys.map(({ name, cause, restsUntil }) =>
      restsUntil > now && cause !== undefined ? { name, cause, restsUntil } : { name },
    );
  }
}
