/** What is used of a browser's `localStorage`. */
export interface KeyStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

const NAME = "signalbox.session-key";

/** The half of a browser's session that is not in the cookie: all tabs of this origin read it, and no other port. */
export class SessionKey {
  readonly #storage: KeyStorage;

  constructor(storage: KeyStorage = platformStorage()) {
    this.#storage = storage;
  }

  /** Read anew each time, since another tab may have signed in or out. */
  get value(): string | undefined {
    return this.#storage.getItem(NAME) ?? undefined;
  }

  keep(key: string): void {
    this.#storage.setItem(NAME, key);
  }

  forget(): void {
    this.#storage.removeItem(NAME);
  }
}

/** A browser's `localStorage`; elsewhere, and where the browser is told to keep nothing, memory. */
function platformStorage(): KeyStorage {
  try {
    // Node.js has a `localStorage` too, which is none of a page.
    const storage: unknown = "document" in globalThis && Reflect.get(globalThis, "localStorage");
    if (isStorage(storage)) return storage;
  } catch {
    // Reading it throws where it is not allowed.
  }
  const kept = new Map<string, string>();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
  };
}

function isStorage(value: unknown): value is KeyStorage {
  return typeof value === "object" && value !== null && "getItem" in value;
}
