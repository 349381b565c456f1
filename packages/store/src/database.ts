import type Sqlite from "better-sqlite3";
import { getTableColumns, Placeholder, type SQL, sql } from "drizzle-orm";
import { type BetterSQLite3Database, drizzle } from "drizzle-orm/better-sqlite3";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { FaultPoint } from "./types/store.ts";

/** Returns the placeholder for a parameter. A statement with the parameters `{ seq: number }` uses `p("seq")`. */
export type Bound<Params> = <Name extends keyof Params & string>(
  name: Name,
) => SQL<Params[Name]> & Placeholder<string>;

/** Arguments of a statement. Empty if the statement has no parameters. */
type Arguments<Params> = keyof Params extends never ? [] : [params: Params];

/** A prepared statement that reads rows. */
export interface Query<Params, Row> {
  get(...params: Arguments<Params>): Row | undefined;
  all(...params: Arguments<Params>): Row[];
}

/** A prepared statement that writes rows. */
export interface Command<Params> {
  run(...params: Arguments<Params>): Written;
}

interface Written {
  /** Number of changed rows. */
  readonly changes: number;
  /** Row number of the last inserted row. */
  readonly rowNumber: number;
}

/** Number of statements to prepare in one turn of the event loop. */
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

/** A connection and its statements. Each statement is prepared once, on first use. */
export interface Database {
  readonly raw: Sqlite.Database;
  readonly db: BetterSQLite3Database;
  query<Params extends object, Row>(build: (bound: Bound<Params>) => Readable<Row>): Query<Params, Row>;
  command<Params extends object>(build: (bound: Bound<Params>) => Writable): Command<Params>;
  /** Inserts rows. Omitted columns get their default value or NULL. */
  insert<Table extends SQLiteTable>(table: Table): Command<Table["$inferInsert"]>;
  /** Like {@link insert}, but replaces a row with the same `key`. */
  replace<Table extends SQLiteTable>(
    table: Table,
    key: readonly SQLiteColumn[],
  ): Command<Table["$inferInsert"]>;
  /** Prepares SQL that Drizzle cannot express. Parameters are written as `@name`. */
  handWritten<Params extends object, Row = never>(text: string): Query<Params, Row> & Command<Params>;
  /** Prepares all remaining statements and yields to the event loop in between. */
  prepare(): Promise<void>;
  readonly fault: (point: FaultPoint) => void;
}

/** Drizzle accepts a placeholder for every value and expression, but the types of `set` and `eq` do not. */
const placeholder = (name: string) => new Placeholder(name) as Placeholder<string> & SQL<never>;

/**
 * A placeholder for statements that read. If the planner uses the value of a parameter, as in `LIMIT` and `ORDER BY`,
 * SQLite plans the statement again on each call. The unary plus hides the value from the planner.
 */
const opaquePlaceholder = (name: string) => sql`+${placeholder(name)}` as Placeholder<string> & SQL<never>;

/** Returns the defaults of columns that an insert omits. */
function defaults(table: SQLiteTable): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(getTableColumns(table)).map(([name, column]) => [name, column.default ?? null]),
  );
}

function columnPlaceholders(table: SQLiteTable): Record<string, Placeholder> {
  return Object.fromEntries(Object.keys(getTableColumns(table)).map((name) => [name, sql.placeholder(name)]));
}

/** Returns the columns that an upsert replaces in a row with the same key. */
function columnsBut(key: readonly SQLiteColumn[], table: SQLiteTable): Record<string, SQL> {
  return Object.fromEntries(
    Object.entries(getTableColumns(table))
      .filter(([, column]) => !key.includes(column))
      .map(([name, column]) => [name, sql`excluded.${sql.identifier(snakeCase(column.name))}`]),
  );
}

/** Converts a property name to the name of its SQLite column. */
export const snakeCase = (name: string): string =>
  name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** Creates statements that are prepared on first use or by `prepare`. */
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
      const statement = once(() => build(opaquePlaceholder).prepare());
      return {
        get: (...[params]) => statement().get(params),
        all: (...[params]) => statement().all(params),
      };
    },
    command: (build) => ({ run: writing(once(() => build(placeholder).prepare())) }),
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
