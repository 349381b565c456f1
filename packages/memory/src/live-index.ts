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

/** The index kept as the files are: refreshed before it is read, made anew when it is damaged, embedded meanwhile. */
export interface LiveIndex {
  read<T>(work: (index: MemoryIndex) => T): Promise<T>;
  /** Changes the files, one change at a time, and then the index. */
  change<T>(work: () => Promise<T>): Promise<T>;
  /** Removes turns, and whatever is left of what the files have no more. */
  scrub(turns: readonly string[]): Promise<void>;
  /**
   * Removes conversations that are kept no more, of those that something was found in; gives whether there were any.
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
/** After a failure embedding is not tried again for so long. */
const EMBED_AGAIN_MS = 30_000;

export function createLiveIndex(options: LiveIndexOptions): LiveIndex {
  return new WatchedIndex(options);
}

class WatchedIndex implements LiveIndex {
  readonly #options: LiveIndexOptions;
  readonly #maxAgeMs: number;
  readonly #onProblem: (problem: string, error?: unknown) => void;
  readonly #closing = new AbortController();
  #opened: Promise<MemoryIndex> | undefined;
  #refreshedAt: number = Number.NEGATIVE_INFINITY;
  #last: Promise<unknown> = Promise.resolve();
  #embedding: Promise<void> | undefined;
  #failure: { readonly at: number; readonly message: string } | undefined;

  constructor(options: LiveIndexOptions) {
    this.#options = options;
    this.#maxAgeMs = options.maxAgeMs ?? DEFAULT_MAX_AGE_MS;
    this.#onProblem = options.onProblem ?? (() => {});
  }

  async read<T>(work: (index: MemoryIndex) => T): Promise<T> {
    if (this.#isStale()) await this.#inTurn(async () => (this.#isStale() ? this.#fillOrMend() : undefined));
    try {
      return work(await this.#index());
    } catch (error) {
      this.#reportDamage(error);
      await this.#inTurn(() => this.#makeAnew());
      return work(await this.#index());
    }
  }

  change<T>(work: () => Promise<T>): Promise<T> {
    return this.#inTurn(async () => {
      const result = await work();
      await this.#fillOrMend();
      return result;
    });
  }

  scrub(turns: readonly string[]): Promise<void> {
    return this.#inTurn(async () => {
      await this.#fillOrMend();
      (await this.#index()).forget(turns);
    });
  }

  async removeGone(chats: readonly string[]): Promise<boolean> {
    const gone = chats.length === 0 ? [] : ((await this.#options.turns.gone?.(chats)) ?? []);
    if (gone.length === 0) return false;
    return this.#inTurn(async () => {
      const current = await this.#index();
      const turnsOfThem = gone.flatMap((chat) => current.chunks.ofChat(chat).map(({ id }) => id));
      current.forget(turnsOfThem);
      return turnsOfThem.length > 0;
    });
  }

  refresh(): Promise<void> {
    return this.#inTurn(() => this.#fillOrMend());
  }

  rebuild(): Promise<void> {
    return this.#inTurn(() => this.#makeAnew());
  }

  async vectorOf(query: string): Promise<QueryVector> {
    const index = await this.read((current) => current);
    return queryVector(query, this.#options.embeddings, index, this.#closing.signal);
  }

  async embedded(): Promise<void> {
    await this.#inTurn(() => this.#fillOrMend());
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
              ...(this.#failure === undefined ? {} : { problem: this.#failure.message }),
            },
    }));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#last;
    await this.#embedding;
    (await this.#opened?.catch(() => undefined))?.close();
  }

  async #open(): Promise<MemoryIndex> {
    const load = this.#options.embeddings === undefined ? undefined : await loadSqliteVec();
    return openMemoryIndex(this.#options.index, load);
  }

  #index(): Promise<MemoryIndex> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      // What is in the way of opening it, a full disk for instance, may be gone the next time.
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  #isStale(): boolean {
    return this.#options.now() - this.#refreshedAt >= this.#maxAgeMs;
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }

  async #fill(): Promise<void> {
    const { folder, topScope, notebook, now, turns, forgotten } = this.#options;
    const current = await this.#index();
    await refreshNotes(current, folder, topScope, async (path, text) => {
      if (isLasting(path)) await notebook.versions.keep(path, text, now());
    });
    await refreshTurns(current, turns, forgotten);
    this.#refreshedAt = now();
    this.#startEmbedding(current);
  }

  async #makeAnew(): Promise<void> {
    const before = await this.#opened?.catch(() => undefined);
    this.#opened = undefined;
    before?.close();
    if (this.#options.index !== ":memory:") removeDatabase(this.#options.index);
    await this.#fill();
  }

  #reportDamage(error: unknown): void {
    if (!isDamage(error)) throw error;
    this.#onProblem("The index of the memory is damaged. It is made anew from the files.", error);
  }

  async #fillOrMend(): Promise<void> {
    try {
      await this.#fill();
    } catch (error) {
      this.#reportDamage(error);
      await this.#makeAnew();
    }
  }

  #startEmbedding(current: MemoryIndex): void {
    const { embeddings, now } = this.#options;
    if (embeddings === undefined || this.#embedding !== undefined) return;
    if (this.#failure !== undefined && now() - this.#failure.at < EMBED_AGAIN_MS) return;
    this.#embedding = embedChunks(current, embeddings, this.#closing.signal)
      .then(
        () => {
          this.#failure = undefined;
        },
        (error: unknown) => {
          if (this.#closing.signal.aborted) return;
          this.#failure = { at: now(), message: reasonOf(error) };
          this.#onProblem("Parts of the memory could not be embedded yet.", error);
        },
      )
      .finally(() => {
        this.#embedding = undefined;
      });
  }
}
