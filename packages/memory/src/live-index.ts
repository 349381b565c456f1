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
  const { folder, topScope, turns, notebook, forgotten, now, maxAgeMs = DEFAULT_MAX_AGE_MS } = options;
  const { embeddings, onProblem = () => {} } = options;
  const closing = new AbortController();
  let opened: Promise<MemoryIndex> | undefined;
  let refreshedAt = Number.NEGATIVE_INFINITY;
  let last: Promise<unknown> = Promise.resolve();
  let embedding: Promise<void> | undefined;
  let failure: { readonly at: number; readonly message: string } | undefined;

  async function open(): Promise<MemoryIndex> {
    const load = embeddings === undefined ? undefined : await loadSqliteVec();
    return openMemoryIndex(options.index, load);
  }

  function index(): Promise<MemoryIndex> {
    opened ??= open().catch((error: unknown) => {
      // What is in the way of opening it, a full disk for instance, may be gone the next time.
      opened = undefined;
      throw error;
    });
    return opened;
  }

  const isStale = () => now() - refreshedAt >= maxAgeMs;

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = last.then(work);
    last = done.catch(() => {});
    return done;
  }

  async function fill(): Promise<void> {
    const current = await index();
    await refreshNotes(current, folder, topScope, async (path, text) => {
      if (isLasting(path)) await notebook.versions.keep(path, text, now());
    });
    await refreshTurns(current, turns, forgotten);
    refreshedAt = now();
    startEmbedding(current);
  }

  async function makeAnew(): Promise<void> {
    const before = await opened?.catch(() => undefined);
    opened = undefined;
    before?.close();
    if (options.index !== ":memory:") removeDatabase(options.index);
    await fill();
  }

  function reportDamage(error: unknown): void {
    if (!isDamage(error)) throw error;
    onProblem("The index of the memory is damaged. It is made anew from the files.", error);
  }

  async function fillOrMend(): Promise<void> {
    try {
      await fill();
    } catch (error) {
      reportDamage(error);
      await makeAnew();
    }
  }

  function startEmbedding(current: MemoryIndex): void {
    if (embeddings === undefined || embedding !== undefined) return;
    if (failure !== undefined && now() - failure.at < EMBED_AGAIN_MS) return;
    embedding = embedChunks(current, embeddings, closing.signal)
      .then(
        () => {
          failure = undefined;
        },
        (error: unknown) => {
          if (closing.signal.aborted) return;
          failure = { at: now(), message: reasonOf(error) };
          onProblem("Parts of the memory could not be embedded yet.", error);
        },
      )
      .finally(() => {
        embedding = undefined;
      });
  }

  async function read<T>(work: (index: MemoryIndex) => T): Promise<T> {
    if (isStale()) await inTurn(async () => (isStale() ? fillOrMend() : undefined));
    try {
      return work(await index());
    } catch (error) {
      reportDamage(error);
      await inTurn(makeAnew);
      return work(await index());
    }
  }

  return {
    read,
    change: (work) =>
      inTurn(async () => {
        const result = await work();
        await fillOrMend();
        return result;
      }),
    scrub: (turns) =>
      inTurn(async () => {
        await fillOrMend();
        (await index()).forget(turns);
      }),
    async removeGone(chats) {
      const gone = chats.length === 0 ? [] : ((await turns.gone?.(chats)) ?? []);
      if (gone.length === 0) return false;
      return inTurn(async () => {
        const current = await index();
        const turnsOfThem = gone.flatMap((chat) => current.chunks.ofChat(chat).map(({ id }) => id));
        current.forget(turnsOfThem);
        return turnsOfThem.length > 0;
      });
    },
    refresh: () => inTurn(fillOrMend),
    rebuild: () => inTurn(makeAnew),
    vectorOf: async (query) => queryVector(query, embeddings, await index(), closing.signal),
    async embedded() {
      await inTurn(fillOrMend);
      await embedding;
    },
    status: () =>
      read(({ census, vectors }) => ({
        notes: census.all().notes,
        turns: census.all().turns,
        vectors:
          embeddings === undefined
            ? undefined
            : {
                model: embeddings.model,
                engine: vectors.engine,
                pending: vectors.countMissing(embeddings.model),
                ...(failure === undefined ? {} : { problem: failure.message }),
              },
      })),
    async close() {
      closing.abort();
      await last;
      await embedding;
      (await opened?.catch(() => undefined))?.close();
    },
  };
}
