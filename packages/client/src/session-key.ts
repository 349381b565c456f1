/** The subset of `Storage` (such as `localStorage`) that the client uses. */
export interface KeyStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** Name under which the key of a browser session is in `localStorage`. */
export const SESSION_KEY_NAME = "signalbox.session-key";

/**
 * The half of a browser session's credential that is not in the cookie. All tabs of the same origin share it, but pages
 * on other ports cannot read it.
 */
export class SessionKey {
  readonly #storage: KeyStorage;

  constructor(storage: KeyStorage = platformStorage()) {
    this.#storage = storage;
  }

  /** Not cached, because another tab may sign in or out. */
  get value(): string | undefined {
    return this.#storage.getItem(SESSION_KEY_NAME) ?? undefined;
  }

  store(key: string): void {
    this.#storage.setItem(SESSION_KEY_NAME, key);
  }

  clear(): void {
    this.#storage.removeItem(SESSION_KEY_NAME);
  }
}

/** Returns a browser's `localStorage`, or memory if storage is missing or disabled. */
function platformStorage(): KeyStorage {
  try {
    // Node.js has a global `localStorage` too, which must not be used.
    const storage: unknown = "document" in globalThis && Reflect.get(globalThis, "localStorage");
    if (isStorage(storage)) return storage;
  } catch {
    // Browsers throw if storage is disabled.
  }
  const values = new Map<string, string>();
  return {
    getItem: (name) => values.get(name) ?? null,
    setItem: (name, value) => void values.set(name, value),
    removeItem: (name) => void values.delete(name),
  };
}

function isStorage(value: unknown): value is KeyStorage {
  return typeof value === "object" && value !== null && "getItem" in value;
}
