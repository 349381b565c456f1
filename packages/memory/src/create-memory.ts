import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keyOf, opens } from "./access.ts";
import type { MemoryIndex } from "./database/memory-index.ts";
import { finishForgetting, forget } from "./forget.ts";
import { openForgotten } from "./forgotten.ts";
import { createLiveIndex } from "./live-index.ts";
import type { Memory, MemoryOptions } from "./memory.ts";
import { consolidate } from "./notes/consolidate.ts";
import { LASTING } from "./notes/folder.ts";
import { createNotebook } from "./notes/notebook.ts";
import { RECALL_LIMIT, selectRecall } from "./recall.ts";
import { neighboursOf } from "./search/neighbours.ts";
import { find, type Query, search, toPublic } from "./search/search.ts";
import { toAuthor, toTurn } from "./to-chunk.ts";
import { fileTurnLog } from "./turns/file-log.ts";
import { transientTurnLog } from "./turns/transient-log.ts";
import type { Hit, NewTurn, SearchResult } from "./types.ts";

const DEFAULT_HALF_LIFE_DAYS = 30;
const EVERYONE = { kind: "everyone" } as const;

/** Opens a memory. Nothing is read before it is first asked for something. */
export async function createMemory(options: MemoryOptions = {}): Promise<Memory> {
  const parts = await openParts(options);
  const { folder, lasts, topScope, now, notebook, live } = parts;
  return {
    ...finding(parts),
    ...changing(parts),
    notes: (scope = topScope) => notebook.current(scope, now()),
    log: (scope = topScope) => notebook.versions.list(notebook.pathIn(scope, LASTING)),
    refresh: () => live.refresh(),
    rebuild: () => live.rebuild(),
    embedded: () => live.embedded(),
    status: () => live.status(),
    async close() {
      await live.close();
      if (!lasts) await rm(folder, { recursive: true, force: true });
    },
  };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

async function openParts(options: MemoryOptions) {
  const { topScope = EVERYONE, now = Date.now, halfLifeDays = DEFAULT_HALF_LIFE_DAYS } = options;
  const lasts = options.folder !== undefined;
  const folder = options.folder ?? join(tmpdir(), `signalbox-memory-${randomUUID()}`);
  const log =
    options.turns === undefined
      ? lasts
        ? fileTurnLog(join(folder, ".turns.jsonl"))
        : transientTurnLog()
      : undefined;
  const forgotten = await openForgotten(lasts ? join(folder, ".forgotten") : undefined);
  const notebook = createNotebook(folder, topScope, now);
  const forgetting = { folder, notebook, forgotten, log };
  const live = createLiveIndex({
    ...options,
    folder,
    topScope,
    now,
    notebook,
    forgotten,
    index: options.index ?? (lasts ? join(folder, ".index.db") : ":memory:"),
    turns: options.turns ?? log ?? transientTurnLog(),
  });
  const brokenOff = await finishForgetting(forgetting);
  if (brokenOff !== undefined) await live.scrub(brokenOff);
  return { folder, lasts, topScope, now, halfLifeDays, log, notebook, forgetting, live };
}

/** What is looked for in a memory. */
function finding({ live, halfLifeDays, now }: Parts): Pick<Memory, "search" | "recall" | "get"> {
  /** Until nothing that is found is of a conversation that is gone. */
  async function searching<T extends Pick<SearchResult, "hits">>(
    text: string,
    work: (index: MemoryIndex, query: Query) => T,
  ): Promise<T> {
    const vector = await live.vectorOf(text);
    for (;;) {
      const found = await live.read((index) => work(index, { text, vector, halfLifeDays, now: now() }));
      if (!(await live.removeGone(chatsIn(found.hits)))) return found;
    }
  }

  return {
    search: (text, asked = {}) => searching(text, (index, query) => search(index, query, asked)),

    async recall(message, asked = {}) {
      const { reader = {}, except } = asked;
      const limits = { reader, limit: RECALL_LIMIT, neighbours: 0 };
      const found = await searching(message, (index, query) =>
        find(index, { ...query, isTellingOnly: true, except }, limits),
      );
      return selectRecall(found.hits, asked);
    },

    async get(id, { reader = {}, neighbours = 1 } = {}) {
      await live.removeGone(await live.read(({ chunks }) => chatsIn(chunks.byIds([id]))));
      return live.read(({ chunks }) => {
        const key = keyOf(reader);
        const [chunk] = chunks.byIds([id]);
        if (chunk === undefined || !opens(key, chunk)) return undefined;
        const { before, after } = neighboursOf(chunk, chunks, key, neighbours);
        return { ...toPublic(chunk), before: before.map(toPublic), after: after.map(toPublic) };
      });
    },
  };
}

/** What is put into a memory, and taken out of it. */
function changing({
  folder,
  topScope,
  now,
  log,
  notebook,
  forgetting,
  live,
}: Parts): Pick<Memory, "add" | "write" | "forget" | "consolidate" | "restore"> {
  return {
    async add(given) {
      if (log === undefined)
        throw new Error("This memory reads its conversations elsewhere: add them there.");
      const turns = (isMany(given) ? given : [given]).map((turn) => toTurn(turn, now(), randomUUID));
      await live.change(() => log.append(turns));
      return turns.map(({ id }) => id);
    },

    write({ text, kind = "daily", scope = topScope, author, ...given }) {
      const provenance = {
        at: now(),
        ...given,
        ...(author === undefined ? {} : { author: toAuthor(author) }),
      };
      return live.change(() => notebook.write(text, provenance, { kind, scope }));
    },

    async forget(ids, { reader = {} } = {}) {
      const key = keyOf(reader);
      const chunks = await live.read((index) => index.chunks.byIds(ids).filter((chunk) => opens(key, chunk)));
      if (chunks.length === 0) return [];
      await live.scrub(await live.change(() => forget(forgetting, chunks)));
      return chunks.map(({ id }) => id);
    },

    consolidate: ({ scope = topScope, ...how }) =>
      consolidate({ notebook, folder, change: (work) => live.change(work) }, scope, how, now()),

    restore: (version) => live.change(() => notebook.restore(version)),
  };
}

function chatsIn(hits: readonly Pick<Hit, "chat" | "source">[]): string[] {
  const ofTurns = hits.filter(({ source }) => source === "turn");
  return [...new Set(ofTurns.flatMap(({ chat }) => chat ?? []))];
}

function isMany(given: NewTurn | readonly NewTurn[]): given is readonly NewTurn[] {
  return Array.isArray(given);
}
