/** An unbounded queue for one `for await` loop. It ends when the loop ends or `end` is called. */
export class Queue<T> implements AsyncIterableIterator<T, undefined> {
  #items: T[] = [];
  #reader: PromiseWithResolvers<IteratorResult<T, undefined>> | undefined;
  #end: { error?: unknown } | undefined;
  readonly #release: () => void;

  /** @param release called once when the queue ends */
  constructor(release: () => void) {
    this.#release = release;
  }

  push(item: T): void {
    if (this.#end !== undefined) return;
    if (this.#reader === undefined) this.#items.push(item);
    else this.#take().resolve({ done: false, value: item });
  }

  /** Ends the queue after its buffered items. With an error, the next read after them rejects. */
  end(error?: unknown): void {
    if (this.#end !== undefined) return;
    this.#end = { error };
    this.#release();
    if (this.#reader === undefined) return;
    if (error === undefined) this.#take().resolve({ done: true, value: undefined });
    else this.#take().reject(error);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const [item] = this.#items.splice(0, 1);
    if (item !== undefined) return Promise.resolve({ done: false, value: item });
    if (this.#end === undefined) {
      this.#reader = Promise.withResolvers();
      return this.#reader.promise;
    }
    const { error } = this.#end;
    this.#end = {};
    return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error);
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#items = [];
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): PromiseWithResolvers<IteratorResult<T, undefined>> {
    const reader = this.#reader ?? Promise.withResolvers<IteratorResult<T, undefined>>();
    this.#reader = undefined;
    return reader;
  }
}
