import type { ModelErrorCode, StreamModel } from "@signalbox/agent-core";

/** The rest of a key after a refusal, in milliseconds. */
export interface Cooldowns {
  /** After a rate limit for which the vendor gave no time; default 30,000. */
  readonly rateLimitMs: number;
  /** Default 3,600,000. */
  readonly billingMs: number;
  /** Default 3,600,000. */
  readonly authMs: number;
}

const DEFAULTS: Cooldowns = { rateLimitMs: 30_000, billingMs: 3_600_000, authMs: 3_600_000 };

/** The longest rest, whatever the vendor asks for. */
const MAX_REST_MS = 3_600_000;

/** The state of one key, without the key itself. */
export interface KeyState {
  /** For instance `anthropic#2`. */
  readonly name: string;
  /** Why the key rests, if it does. */
  readonly cause?: ModelErrorCode;
  /** Milliseconds since the epoch. */
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

/** The keys of one account. One key is used until it is refused, because the vendor's prompt cache belongs to it. */
export class KeyRing {
  readonly #keys: readonly Key[];
  readonly #cooldowns: Cooldowns;
  #current = 0;

  /** @param connect creates the stream of a key, or of the account if there are no keys */
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

  /** Returns a key that can be used now and is not among `used`. */
  ready(now: number, used?: ReadonlySet<Key>): Key | undefined {
    const fromCurrent = [...this.#keys.slice(this.#current), ...this.#keys.slice(0, this.#current)];
    const key = fromCurrent.find((key) => key.restsUntil <= now && used?.has(key) !== true);
    if (key !== undefined) this.#current = this.#keys.indexOf(key);
    return key;
  }

  /** Returns the key whose rest ends first, whether or not it has ended. */
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
