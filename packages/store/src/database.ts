import type Sqlite from "better-sqlite3";
import { getTableColumns, Placeholder, type SQL, sql } from "drizzle-orm";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { FaultPoint } from "./types/store.ts";

/** What a statement binds: `{ seq: number }` gives a placeholder `seq`. */
export type Bound<Params> = { readonly [Name in keyof Params]: SQL<Params[Name]> & Placeholder<string> };

/** What stands behind `get`, `all` and `run` of a statement that binds nothing may be left out. */
type Given<Params> = keyof Params extends never ? [] : [params: Params];

/** A prepared statement that reads. */
export interface Query<Params, Row> {
  get(...params: Given<Params>): Row | undefined;
  all(...params: Given<Params>): Row[];
}

/** A prepared statement that writes. */
export interface Command<Params> {
  run(...params: Given<Params>): Written;
}

interface Written {
  /** Number of rows. */
  readonly changes: number;
  /** Of the row that was inserted last: the number SQLite gave it. */
  readonly rowNumber: number;
}

/** Statements prepared in one turn of the event loop. */
const AT_ONCE = 8;

interface Readable<Row> {
  prepare(): {
    get(params?: object): Row | undefined;
    all(params?: object): Row[];
  };
}

interface Writable {
  prepare(): { run(params?: object): Sqlite.RunResult };
}

/**
 * One connection and its statements. Each is prepared once, when it is first used: a start prepares what it needs and
 * no more.
 */
export interface Database {
  readonly raw: Sqlite.Database;
  readonly db: BetterSQLite3Database;
  query<Params extends object, Row>(build: (bound: Bound<Params>) => Readable<Row>): Query<Params, Row>;
  command<Params extends object>(build: (bound: Bound<Params>) => Writable): Command<Params>;
  /** Inserts whole rows; what is not given has its default, or is NULL. */
  insert<Table extends SQLiteTable>(table: Table): Command<Table["$inferInsert"]>;
  /** As {@link insert}, in the place of a row with the same `key`. */
  replace<Table extends SQLiteTable>(
    table: Table,
    key: readonly SQLiteColumn[],
  ): Command<Table["$inferInsert"]>;
  /** SQL by hand, for what drizzle cannot say; `@name` binds. */
  handWritten<Params extends object, Row = never>(text: string): Query<Params, Row> & Command<Params>;
  /** Prepares what was not used yet, some at a time: others have their turn between. */
  prepare(): Promise<void>;
  readonly fault: (point: FaultPoint) => void;
}

/** Gives for whatever name it is asked for what binds it. */
function binding<Params>(bind: (name: string) => Placeholder | SQL): Bound<Params> {
  // Drizzle binds a placeholder wherever a value or an expression may stand, though the types of `set` and `eq` do not
  // say so.
  return new Proxy({} as Bound<Params>, { get: (_, name) => bind(String(name)) });
}

const placeholder = (name: string): Placeholder => new Placeholder(name);

/**
 * For statements that read: SQLite plans one anew at each call if it has looked at what is bound, as it does in a
 * `LIMIT`, or where there is an `ORDER BY`. Behind a plus it does not look.
 */
const unlookedAt = (name: string): SQL => sql`+${placeholder(name)}`;

/** What an insert binds for the columns that it is not given. */
function defaults(table: SQLiteTable): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(getTableColumns(table)).map(([name, column]) => [name, column.default ?? null]),
  );
}

function columnPlaceholders(table: SQLiteTable): Record<string, Placeholder> {
  return Object.fromEntries(Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]));
}

/** What a row brings in the place of another with the same key. */
function columnsBut(key: readonly SQLiteColumn[], table: SQLiteTable): Record<string, SQL> {
  return Object.fromEntries(
    Object.entries(getTableColumns(table))
      .filter(([, column]) => !key.includes(column))
      .map(([name, column]) => [name, sql`excluded.${sql.identifier(snakeCase(column.name))}`]),
  );
}

/** A column as SQLite knows it. */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Statements that are prepared when they are first used, or by `prepare`. */
function lazily() {
  const statements: (() => unknown)[] = [];

  function once<T>(make: () => T): () => T {
    let made: T | undefined;
    const statement = (): T => {
      made ??= make();
      return made;
    };
    statements.push(statement);
    return statement;
  }

  async function prepare(): Promise<void> {
    for (const [index, statement] of statements.entries()) {
      statement();
      if (index % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  }

  return { once, prepare };
}

export function wrapDatabase(raw: Sqlite.Database, faults?: (point: FaultPoint) => void): Database {
  const db = drizzle(raw, { casing: "snake_case" });
  const fault = faults ?? (() => {});
  const { once, prepare } = lazily();

  function writing(
    statement: () => { run(params?: object): Sqlite.RunResult },
  ): (params?: object) => Written {
    return (params) => {
      fault("write");
      const { changes, lastInsertRowid } = statement().run(params);
      return { changes, rowNumber: Number(lastInsertRowid) };
    };
  }

  function inserting(table: SQLiteTable, build: () => Writable): (row?: object) => Written {
    const absent = defaults(table);
    const insert = writing(once(() => build().prepare()));
    return (row) => insert({ ...absent, ...row });
  }

  return {
    raw,
    db,
    fault,
    query<Params extends object, Row>(build: (bound: Bound<Params>) => Readable<Row>): Query<Params, Row> {
      const statement = once(() => build(binding(unlookedAt)).prepare());
      return {
        get: (...[params]) => statement().get(params),
        all: (...[params]) => statement().all(params),
      };
    },
    command: (build) => ({ run: writing(once(() => build(binding(placeholder)).prepare())) }),
    insert: (table: SQLiteTable) => ({
      run: inserting(table, () => db.insert(table).values(columnPlaceholders(table))),
    }),
    replace: (table: SQLiteTable, key) => ({
      run: inserting(table, () =>
        db
          .insert(table)
          .values(columnPlaceholders(table))
          .onConflictDoUpdate({ target: [...key], set: columnsBut(key, table) }),
      ),
    }),
    handWritten<Params extends object, Row>(text: string): Query<Params, Row> & Command<Params> {
      const statement = once(() => raw.prepare<[object?], Row>(text));
      return {
        get: (...[params]) => (params === undefined ? statement().get() : statement().get(params)),
        all: (...[params]) => (params === undefined ? statement().all() : statement().all(params)),
        run: writing(() => ({
          run: (params) => (params === undefined ? statement().run() : statement().run(params)),
        })),
      };
    },
    prepare,
  };
}
