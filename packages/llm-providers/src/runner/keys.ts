import type { ModelErrorCode, StreamModel } from "@signalbox/agent-core";

/** How long a key rests after a refusal that concerns the key, in milliseconds. */
export interface Cooldowns {
  /** Where the vendor gave no time; default 30,000. */
  readonly rateLimitMs: number;
  /** Default 3,600,000. */
  readonly billingMs: number;
  /** Default 3,600,000. */
  readonly authMs: number;
}

const DEFAULTS: Cooldowns = { rateLimitMs: 30_000, billingMs: 3_600_000, authMs: 3_600_000 };

/** Whatever a vendor asks for, a key is tried again after that. */
const LONGEST_REST_MS = 3_600_000;

/** One key as an operator may see it. */
export interface KeyState {
  /** Names the key without revealing it, for instance `anthropic#2`. */
  readonly name: string;
  /** Why it rests, where it does. */
  readonly cause?: ModelErrorCode;
  /** Milliseconds since the epoch. */
  readonly restsUntil?: number;
}

/** One key of an account, or the account itself where its server asks for none. */
export interface Key {
  readonly name: string;
  /** Connected at the first call, and kept. */
  readonly stream: () => StreamModel;
  restsUntil: number;
  cause: ModelErrorCode | undefined;
}

/** The keys of one account. One is used until it is refused, since the vendor's prompt cache belongs to it. */
export class KeyRing {
  readonly #keys: readonly Key[];
  readonly #cooldowns: Cooldowns;
  #current = 0;

  /** @param connect makes the stream of a key, or of the account itself where there is none */
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

  /** A key that may be used now and is not among `used`, or `undefined` if there is none. */
  ready(now: number, used?: ReadonlySet<Key>): Key | undefined {
    const fromCurrent = [...this.#keys.slice(this.#current), ...this.#keys.slice(0, this.#current)];
    const key = fromCurrent.find((key) => key.restsUntil <= now && used?.has(key) !== true);
    if (key !== undefined) this.#current = this.#keys.indexOf(key);
    return key;
  }

  /** The key that is usable again soonest, whether or not it is ready. */
  soonest(): Key {
    return this.#keys.reduce((least, key) => (key.restsUntil < least.restsUntil ? key : least));
  }

  rest(key: Key, cause: ModelErrorCode, retryAfterMs: number | undefined, now: number): void {
    const { billingMs, authMs, rateLimitMs } = this.#cooldowns;
    const refused: { readonly [Code in ModelErrorCode]?: number } = { billing: billingMs, auth: authMs };
    const busyMs = Math.min(retryAfterMs ?? rateLimitMs, LONGEST_REST_MS);
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
