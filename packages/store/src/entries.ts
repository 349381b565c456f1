import type { Database } from "./database.ts";
import type { EntryRecord } from "./records.ts";

/** Where an entry belongs; what is not given is NULL. */
interface EntryPlace {
  readonly at: number;
  readonly sessionKey?: string | null;
  readonly run?: number | null;
  readonly seq?: number;
  readonly prev?: number | null;
  readonly generation?: number;
}

/** The one table of bodies. */
export interface Entries {
  /** Gives the number of the new entry. */
  add(kind: EntryRecord["kind"], body: string, place: EntryPlace): number;
  get(id: number): EntryRecord | undefined;
  setBody(id: number, body: string): void;
  remove(id: number): void;
}

export function createEntries(database: Database): Entries {
  const next = database.query<[], { id: number }>("SELECT coalesce(max(id), 0) + 1 AS id FROM entry");
  const insert = database.command<
    [
      ...[number, string, string | null, number | null, number | null],
      ...[number | null, number | null, number, string],
    ]
  >(
    `INSERT INTO entry (id, kind, session_key, seq, prev, generation, run, at, body)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const get = database.query<[number], EntryRecord>("SELECT * FROM entry WHERE id = ?");
  const setBody = database.command<[string, number]>("UPDATE entry SET body = ? WHERE id = ?");
  const remove = database.command<[number]>("DELETE FROM entry WHERE id = ?");

  return {
    add(kind, body, { at, sessionKey, run, seq, prev, generation }) {
      const id = next.get()?.id ?? 1;
      insert.run(
        id,
        kind,
        sessionKey ?? null,
        seq ?? null,
        prev ?? null,
        generation ?? null,
        run ?? null,
        at,
        body,
      );
      return id;
    },
    get: (id) => get.get(id),
    setBody(id, body) {
      setBody.run(body, id);
    },
    remove(id) {
      remove.run(id);
    },
  };
}
