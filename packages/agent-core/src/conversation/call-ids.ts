/** The call ids a conversation has, and new ones for calls that would be the second of theirs. */
export class CallIds {
  readonly #taken = new Set<string>();
  /** The number to try next behind an id. Only ever more are taken, so none has to be tried again. */
  readonly #next = new Map<string, number>();

  add(id: string): void {
    this.#taken.add(id);
  }

  /** The same id where it is free and not empty, else the id with a number behind it; taken from now on. Deterministic. */
  take(id: string): string {
    const own = id !== "" && !this.#taken.has(id) ? id : this.#numbered(id === "" ? "call" : id);
    this.#taken.add(own);
    return own;
  }

  #numbered(stem: string): string {
    let n = this.#next.get(stem) ?? 2;
    while (this.#taken.has(`${stem}_${n}`)) n++;
    this.#next.set(stem, n + 1);
    return `${stem}_${n}`;
  }
}
