import { eq } from "drizzle-orm";
import type { Bound, Database } from "./database.ts";
import { type EntryRecord, entry } from "./schema/index.ts";

/** Columns of an entry except its body. Absent values are stored as NULL. */
interface EntryPlace {
  readonly at: number;
  readonly sessionKey?: string | null;
  readonly run?: number | null;
  readonly seq?: number;
  readonly prev?: number | null;
  readonly generation?: number;
}

/** Access to the table of bodies. */
export interface Entries {
  /** Inserts an entry and returns its number. */
  add(kind: EntryRecord["kind"], body: string, place: EntryPlace): number;
  get(id: number): EntryRecord | undefined;
  setBody(id: number, body: string): void;
  remove(id: number): void;
}

export function createEntries(database: Database): Entries {
  const { db } = database;
  const insert = database.insert(entry);
  const byId = database.query((p: Bound<{ id: number }>) =>
    db
      .select()
      .from(entry)
      .where(eq(entry.id, p("id"))),
  );
  const setBody = database.command((p: Bound<{ id: number; body: string }>) =>
    db
      .update(entry)
      .set({ body: p("body") })
      .where(eq(entry.id, p("id"))),
  );
  const remove = database.command((p: Bound<{ id: number }>) =>
    db.delete(entry).where(eq(entry.id, p("id"))),
  );

  return {
    add: (kind, body, place) => insert.run({ kind, body, ...place }).rowNumber,
    get: (id) => byId.get({ id }),
    setBody(id, body) {
      setBody.run({ id, body });
    },
    remove(id) {
      remove.run({ id });
    },
  };
}
