import { reasonOf } from "@signalbox/agent-core";
import { type MemoryIndex, openMemoryIndex } from "./database/memory-index.ts";
import { isDamage, removeDatabase } from "./database/open.ts";
import type { Forgotten } from "./forgotten.ts";
import type { MemoryOptions, MemoryStatus } from "./memory.ts";
import { isLasting, type Notebook } from "./notes/notebook.ts";
import { refreshNotes, refreshTurns } from "./refresh.ts";
import { type QueryVector, queryVector } from "./search/vectors.ts";
import type { TurnSource } from "./turns/turn-log.ts";
import type { Scope } from "./types.ts";
import { embedChunks } from "./vectors/embed-chunks.ts";
import { loadSqliteVec } from "./vectors/sqlite-vec.ts";

export interface LiveIndexOptions extends Pick<MemoryOptions, "embeddings" | "maxAgeMs" | "onProblem"> {
  readonly folder: string;
  readonly index: string;
  readonly topScope: Scope;
  readonly turns: TurnSource;
  readonly notebook: Notebook;
  readonly forgotten: Forgotten;
  readonly now: () => number;
}

/**
 * The index, kept up to date with the files: refreshed before reads, rebuilt if damaged, embedded in the background.
 */
export interface LiveIndex {
  read<T>(work: (index: MemoryIndex) => T): Promise<T>;
  /** Changes files, one change at a time, and refreshes the index after each. */
  change<T>(work: () => Promise<T>): Promise<T>;
  /** Removes turns and purges everything that was removed from the index file. */
  purge(turns: readonly string[]): Promise<void>;
  /**
   * Removes the turns of those given conversations that no longer exist.
   *
   * @returns whether any turns were removed
   */
  removeGone(chats: readonly string[]): Promise<boolean>;
  refresh(): Promise<void>;
  rebuild(): Promise<void>;
  vectorOf(query: string): Promise<QueryVector>;
  embedded(): Promise<void>;
  status(): Promise<MemoryStatus>;
  close(): Promise<void>;
}

const DEFAULT_MAX_AGE_MS = 1_000;
/** Delay in milliseconds before embedding is retried after a failure. */
const EMBEDDING_RETRY_MS = 30_000;

export function createLiveIndex(options: LiveIndexOptions): LiveIndex {
  return new RefreshedIndex(options);
}

class RefreshedIndex implements LiveIndex {
  readonly #options: LiveIndexOptions;
  readonly #maxAgeMs: number;
  readonly #onProblem: (problem: string, error?: unknown) => void;
  readonly #closing = new AbortController();
  #opened: Promise<MemoryIndex> | undefined;
  #refreshedAt: number = Number.NEGATIVE_INFINITY;
  #queue: Promise<unknown> = Promise.resolve();
  #embedding: Promise<void> | undefined;
  #embeddingFailure: { readonly at: number; readonly message: string } | undefined;

  constructor(options: LiveIndexOptions) {
    this.#options = options;
    this.#maxAgeMs = options.maxAgeMs ?? DEFAULT_MAX_AGE_MS;
    this.#onProblem = options.onProblem ?? (() => {});
  }

  async read<T>(work: (index: MemoryIndex) => T): Promise<T> {
    if (this.#isStale()) await this.#enqueue(async () => (this.#isStale() ? this.#update() : undefined));
    try {
      return work(await this.#index());
    } catch (error) {
      this.#reportDamage(error);
      await this.#enqueue(() => this.#rebuild());
      return work(await this.#index());
    }
  }

  change<T>(work: () => Promise<T>): Promise<T> {
    return this.#enqueue(async () => {
      const result = await work();
      await this.#update();
      return result;
    });
  }

  purge(turns: readonly string[]): Promise<void> {
    return this.#enqueue(async () => {
      await this.#update();
      await (await this.#index()).forget(turns);
    });
  }

  async removeGone(chats: readonly string[]): Promise<boolean> {
    const gone = chats.length === 0 ? [] : ((await this.#options.turns.gone?.(chats)) ?? []);
    if (gone.length === 0) return false;
    return this.#enqueue(async () => {
      const index = await this.#index();
      const turns = gone.flatMap((chat) => index.chunks.ofChat(chat).map(({ id }) => id));
      await index.forget(turns);
      return turns.length > 0;
    });
  }

  refresh(): Promise<void> {
    return this.#enqueue(() => this.#update());
  }

  rebuild(): Promise<void> {
    return this.#enqueue(() => this.#rebuild());
  }

  async vectorOf(query: string): Promise<QueryVector> {
    const index = await this.read((current) => current);
    return queryVector(query, this.#options.embeddings, index, this.#closing.signal);
  }

  async embedded(): Promise<void> {
    await this.#enqueue(() => this.#update());
    await this.#embedding;
  }

  status(): Promise<MemoryStatus> {
    const { embeddings } = this.#options;
    return this.read(({ census, vectors }) => ({
      notes: census.all().notes,
      turns: census.all().turns,
      vectors:
        embeddings === undefined
          ? undefined
          : {
              model: embeddings.model,
              engine: vectors.engine,
              pending: vectors.countMissing(embeddings.model),
              problem: this.#embeddingFailure?.message,
            },
    }));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#queue;
    await this.#embedding;
    (await this.#opened?.catch(() => undefined))?.close();
  }

  async #open(): Promise<MemoryIndex> {
    const load = this.#options.embeddings === undefined ? undefined : await loadSqliteVec();
    return openMemoryIndex(this.#options.index, load);
  }

  #index(): Promise<MemoryIndex> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      // The next call tries again, because the cause (for example a full disk) may be temporary.
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  #isStale(): boolean {
    return this.#options.now() - this.#refreshedAt >= this.#maxAgeMs;
  }

  /** Runs one task at a time, in order. */
  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  async #refresh(): Promise<void> {
    const { folder, topScope, notebook, now, turns, forgotten } = this.#options;
    const index = await this.#index();
    await refreshNotes(index, folder, topScope, async (path, text) => {
      if (isLasting(path)) await notebook.versions.keep(path, text, now());
    });
    await refreshTurns(index, { source: turns, forgotten, onProblem: this.#onProblem });
    this.#refreshedAt = now();
    this.#startEmbedding(index);
  }

  async #rebuild(): Promise<void> {
    const previous = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    previous?.close();
    if (this.#options.index !== ":memory:") removeDatabase(this.#options.index);
    await this.#refresh();
  }

  #reportDamage(error: unknown): void {
    if (!isDamage(error)) throw error;
    this.#onProblem("The memory index is damaged. It is being rebuilt from the files.", error);
  }

  /** Refreshes the index, or rebuilds it if it is damaged. */
  async #update(): Promise<void> {
    try {
      await this.#refresh();
    } catch (error) {
      this.#reportDamage(error);
      await this.#rebuild();
    }
  }

  #startEmbedding(index: MemoryIndex): void {
    const { embeddings, now } = this.#options;
    if (embeddings === undefined || this.#embedding !== undefined) return;
    if (this.#embeddingFailure !== undefined && now() - this.#embeddingFailure.at < EMBEDDING_RETRY_MS)
      return;
    this.#embedding = embedChunks(index, embeddings, this.#closing.signal)
      .then(
        () => {
          this.#embeddingFailure = undefined;
        },
        (error: unknown) => {
          if (this.#closing.signal.aborted) return;
          this.#embeddingFailure = { at: now(), message: reasonOf(error) };
          this.#onProblem("Some of the memory could not be embedded.", error);
        },
      )
      .finally(() => {
        this.#embedding = undefined;
      });
  }
}
