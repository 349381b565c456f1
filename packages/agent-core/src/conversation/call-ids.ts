/** The call ids a conversation has used, and new ones for calls that would be the second of theirs. */
export class CallIds {
  readonly #used = new Set<string>();
  /** The number to try next behind an id. Ids are never freed, so no number has to be tried twice. */
  readonly #next = new Map<string, number>();
  readonly #fit: (id: string) => string;

  /** `fit` turns a new id into one that a wire format takes; it must keep different ids different. */
  constructor(fit: (id: string) => string = (id) => id) {
    this.#fit = fit;
  }

  add(id: string): void {
    this.#used.add(id);
  }

  /** The id itself where it is free and not empty, else the id with a number behind it. It is taken from now on. */
  take(id: string): string {
    let own = id;
    while (own === "" || this.#used.has(own)) own = this.#numbered(id || "call");
    this.#used.add(own);
    return own;
  }

  #numbered(stem: string): string {
    const n = this.#next.get(stem) ?? 2;
    this.#next.set(stem, n + 1);
    return this.#fit(`${stem}_${n}`);
  }
}
