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
import { addsNothingTo, RECALL_LIMIT, selectRecall } from "./recall.ts";
import { neighboursOf } from "./search/neighbours.ts";
import { find, type Query, search, toPublic } from "./search/search.ts";
import { createFileLog } from "./turns/file-log.ts";
import { createInMemoryLog } from "./turns/in-memory-log.ts";
import type { Hit, NewTurn, SearchResult } from "./types.ts";
import { assertNote, assertScope, toOptionalAuthor, toTurn } from "./validate.ts";

const DEFAULT_HALF_LIFE_DAYS = 30;
const EVERYONE = { kind: "everyone" } as const;

/**
 * Opens a memory. The index is opened by the first call that needs it.
 *
 * @example
 * ```ts
 * const memory = await createMemory({ folder: "./memory" });
 * await memory.add({ text: "We adopted a puppy, Biscuit.", author: "Ann", scope: { kind: "person", person: "ann" } });
 * const { hits, summary } = await memory.search("puppy", { reader: { person: "ann" } });
 * await memory.close();
 * ```
 */
export async function createMemory(options: MemoryOptions = {}): Promise<Memory> {
  const services = await openServices(options);
  const { folder, isPermanent, topScope, now, notebook, live } = services;
  return {
    ...reading(services),
    ...changing(services),
    async notes(scope = topScope) {
      assertScope(scope);
      return notebook.current(scope, now());
    },
    async log(scope = topScope) {
      assertScope(scope);
      return notebook.versions.list(notebook.pathIn(scope, LASTING));
    },
    refresh: () => live.refresh(),
    rebuild: () => live.rebuild(),
    embedded: () => live.embedded(),
    status: () => live.status(),
    async close() {
      await live.close();
      if (!isPermanent) await rm(folder, { recursive: true, force: true });
    },
  };
}

type Services = Awaited<ReturnType<typeof openServices>>;

async function openServices(options: MemoryOptions) {
  const { topScope = EVERYONE, now = Date.now, halfLifeDays = DEFAULT_HALF_LIFE_DAYS } = options;
  assertScope(topScope);
  const isPermanent = options.folder !== undefined;
  const folder = options.folder ?? join(tmpdir(), `signalbox-memory-${randomUUID()}`);
  const log = options.turns === undefined ? createLog(options) : undefined;
  const forgotten = await openForgotten(isPermanent ? join(folder, ".forgotten") : undefined);
  const notebook = createNotebook(folder, topScope, now);
  const forgetting = { folder, notebook, forgotten, log };
  const live = createLiveIndex({
    ...options,
    folder,
    topScope,
    now,
    notebook,
    forgotten,
    index: options.index ?? (isPermanent ? join(folder, ".index.db") : ":memory:"),
    turns: options.turns ?? log ?? createInMemoryLog(),
  });
  const interrupted = await finishForgetting(forgetting);
  if (interrupted !== undefined) await live.purge(interrupted);
  return { folder, isPermanent, topScope, now, halfLifeDays, log, notebook, forgetting, live };
}

function createLog({ folder, onProblem = () => {} }: MemoryOptions) {
  return folder === undefined ? createInMemoryLog() : createFileLog(join(folder, ".turns.jsonl"), onProblem);
}

function reading({ live, halfLifeDays, now }: Services): Pick<Memory, "search" | "recall" | "get" | "list"> {
  /** Repeats the search until no hit belongs to a conversation that was removed in the meantime. */
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
    search: (text, options = {}) => searching(text, (index, query) => search(index, query, options)),

    async recall(message, options = {}) {
      const { reader = {}, except } = options;
      const addsNothing = addsNothingTo(message);
      const limits = { reader, limit: RECALL_LIMIT, neighbours: 0 };
      const found = await searching(message, (index, query) =>
        find(index, { ...query, except: (chunk) => except?.(chunk) === true || addsNothing(chunk) }, limits),
      );
      return selectRecall(message, found, options);
    },

    list: ({ reader = {}, offset = 0, limit = 50 } = {}) =>
      live.read(({ chunks }) => {
        const key = keyOf(reader);
        const visible = chunks.ofNotes().filter((chunk) => opens(key, chunk));
        return { notes: visible.slice(offset, offset + limit).map(toPublic), total: visible.length };
      }),

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

function changing({
  folder,
  topScope,
  now,
  log,
  notebook,
  forgetting,
  live,
}: Services): Pick<Memory, "add" | "write" | "edit" | "forget" | "consolidate" | "restore"> {
  return {
    async add(added) {
      if (log === undefined)
        throw new Error("This memory reads conversations from `turns`. Add the turns there.");
      const turns = (isArray(added) ? added : [added]).map((turn) => toTurn(turn, now(), randomUUID));
      await live.change(() => log.append(turns));
      return turns.map(({ id }) => id);
    },

    async write(note) {
      const { text, kind = "daily", scope = topScope, author, chat, message, untrusted } = note;
      assertNote({ ...note, scope });
      const provenance = { at: now(), author: toOptionalAuthor(author), chat, message, untrusted };
      return live.change(() => notebook.write(text, provenance, { kind, scope }));
    },

    async edit({ id, before, text }) {
      const [chunk] = await live.read(({ chunks }) => chunks.byIds([id]));
      if (chunk === undefined) return "changed";
      const { note } = chunk;
      if (note === undefined) return "not_a_note";
      const section = { line: note.lines[0], before };
      return (await live.change(() => notebook.edit(note.path, section, text))) ? "edited" : "changed";
    },

    async forget(ids, { reader = {}, before } = {}) {
      const key = keyOf(reader);
      const chunks = await live.read((index) =>
        index.chunks.withSameText(index.chunks.byIds(ids).filter((chunk) => opens(key, chunk))),
      );
      const visible = chunks.filter((chunk) => opens(key, chunk));
      if (visible.length === 0) return [];
      await before?.(visible.map(toPublic));
      await live.purge(await live.change(() => forget(forgetting, visible)));
      return visible.map(({ id }) => id);
    },

    async consolidate({ scope = topScope, ...options }) {
      assertScope(scope);
      const change = <T>(work: () => Promise<T>) => live.change(work);
      return consolidate({ notebook, folder, change }, scope, options, now());
    },

    restore: (version) => live.change(() => notebook.restore(version)),
  };
}

function chatsIn(hits: readonly Pick<Hit, "chat" | "source">[]): string[] {
  const turns = hits.filter(({ source }) => source === "turn");
  return [...new Set(turns.flatMap(({ chat }) => chat ?? []))];
}

function isArray(added: NewTurn | readonly NewTurn[]): added is readonly NewTurn[] {
  return Array.isArray(added);
}
