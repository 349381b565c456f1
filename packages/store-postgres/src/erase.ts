import {
  ERASED,
  eraseContent,
  eraseInStored,
  eraseInString,
  getForms,
  getParts,
  type TextForm,
} from "@signalbox/store/backend";
import type { EraseRequest } from "@signalbox/store/types";
import { and, eq, inArray, isNotNull, or, type SQL, sql } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Database } from "./database.ts";
import { inboxIdOf } from "./inbox-rows.ts";
import { escapeText } from "./schema/columns.ts";
import {
  approval,
  inbox,
  message,
  messageContext,
  outbox,
  run,
  session,
  toldHistory,
  toolCall,
  trace,
} from "./schema/index.ts";
import type { Transaction } from "./transaction.ts";

/** Maximum number of rows to change in one transaction. */
const MAX_CHANGES = 50;
/** Maximum number of messages whose traces are searched in one statement. */
const MAX_SUBJECTS = 500;

/** A column with text, and the rows to search. */
interface TextColumn {
  readonly table: PgTable;
  readonly column: PgColumn;
  readonly key: readonly PgColumn[];
  readonly form: TextForm;
  readonly isSearched: SQL | undefined;
}

/** Returns every column that holds text of these sessions, except traces. */
function columnsOf(sessions: readonly string[]): readonly TextColumn[] {
  const isIn = (column: PgColumn) => inArray(column, [...sessions]);
  const runs = sql`(SELECT ${run.n} FROM ${run} WHERE ${isIn(run.sessionKey)})`;
  const contextKey = [messageContext.sessionKey, messageContext.seq];
  return [
    of(message, message.body, [message.sessionKey, message.seq], "json", isIn(message.sessionKey)),
    of(approval, approval.question, [approval.n], "json", isIn(approval.sessionKey)),
    of(messageContext, messageContext.text, contextKey, "plain", isIn(messageContext.sessionKey)),
    of(messageContext, messageContext.recalled, contextKey, "plain", isIn(messageContext.sessionKey)),
    of(
      toldHistory,
      toldHistory.body,
      [toldHistory.sessionKey, toldHistory.seq, toldHistory.place],
      "json",
      isIn(toldHistory.sessionKey),
    ),
    of(outbox, outbox.payload, [outbox.seq], "json", isIn(outbox.sessionKey)),
    of(inbox, inbox.payload, [inbox.seq], "json", isIn(inbox.sessionKey)),
    of(toolCall, toolCall.args, [toolCall.run, toolCall.n], "args", sql`${toolCall.run} IN ${runs}`),
  ];
}

const of = (
  table: PgTable,
  column: PgColumn,
  key: readonly PgColumn[],
  form: TextForm,
  isSearched: SQL | undefined,
): TextColumn => ({ table, column, key, form, isSearched });

/**
 * Creates a function that replaces texts in all data of the given sessions.
 *
 * @param beforeErase called before each erasure, to write pending data
 */
export function createEraser(
  database: Database,
  beforeErase: () => Promise<void>,
): (request: EraseRequest) => Promise<number> {
  return async ({ sessions, messages, texts: whole }) => {
    await beforeErase();
    let erased = await eraseMessages(database, messages);
    const texts = [...new Set(whole.flatMap(getParts))];
    if (texts.length === 0 || sessions.length === 0) return erased;
    for (const column of columnsOf(sessions)) erased += await eraseColumn(database, column, texts);
    erased += await eraseTraces(database, sessions, texts);
    return erased + (await eraseTitles(database, sessions, texts));
  };
}

type KeyValues = readonly unknown[];

async function eraseColumn(
  database: Database,
  column: TextColumn,
  texts: readonly string[],
): Promise<number> {
  const forms = texts.flatMap(getForms).map(escapeText);
  const hasText = sql`EXISTS (SELECT 1 FROM unnest(${sql.param(forms)}::text[]) AS form
    WHERE strpos(${column.column}, form) > 0)`;
  const found = await database.query((db) =>
    db
      .select(Object.fromEntries(column.key.map((part, index) => [index, part])))
      .from(column.table)
      .where(and(column.isSearched, hasText)),
  );
  const keys = found.map((row) => Object.values(row));
  let erased = 0;
  for (let from = 0; from < keys.length; from += MAX_CHANGES) {
    const chunk = keys.slice(from, from + MAX_CHANGES);
    erased += await database.write((tx) => eraseRows(tx, column, chunk, texts));
  }
  return erased;
}

/** Erases texts in rows. The rows are read again under a lock, because they may have changed. */
async function eraseRows(
  { db, send }: Transaction,
  { table, column, key, form }: TextColumn,
  keys: readonly KeyValues[],
  texts: readonly string[],
): Promise<number> {
  const isRow = (values: KeyValues) => and(...key.map((part, index) => eq(part, values[index])));
  const rows = await db
    .select({ former: column, ...Object.fromEntries(key.map((part, index) => [index, part])) })
    .from(table)
    .where(or(...keys.map(isRow)))
    .for("update");
  let erased = 0;
  for (const { former, ...values } of rows) {
    const text = eraseInStored(String(former), form, texts);
    if (text === former) continue;
    send(
      db
        .update(table)
        .set({ [column.name]: text })
        .where(isRow(Object.values(values))),
    );
    erased += 1;
  }
  return erased;
}

/**
 * Erases texts in the traces of the sessions' messages. Traces of other sessions do not change, so that a member cannot
 * remove evidence about others.
 */
async function eraseTraces(
  database: Database,
  sessions: readonly string[],
  texts: readonly string[],
): Promise<number> {
  const rows = await database.query((db) =>
    db
      .select({ seq: inbox.seq, receivedAt: inbox.receivedAt, nonce: inbox.nonce })
      .from(inbox)
      .where(inArray(inbox.sessionKey, [...sessions])),
  );
  const subjects = rows.map(inboxIdOf);
  let erased = 0;
  for (let from = 0; from < subjects.length; from += MAX_SUBJECTS) {
    const isSearched = inArray(trace.subject, subjects.slice(from, from + MAX_SUBJECTS));
    erased += await eraseColumn(database, of(trace, trace.entries, [trace.n], "trace", isSearched), texts);
  }
  return erased;
}

/** A title may be the first words of a message. */
function eraseTitles(
  database: Database,
  sessions: readonly string[],
  texts: readonly string[],
): Promise<number> {
  return database.write(async ({ db, send }) => {
    const rows = await db
      .select({ key: session.key, title: session.title })
      .from(session)
      .where(and(inArray(session.key, [...sessions]), isNotNull(session.title)))
      .orderBy(session.key)
      .for("update");
    let erased = 0;
    for (const { key, title: former } of rows) {
      if (former === null) continue;
      const beginning = former.replace(/…$/, "").trim();
      const isBeginning = beginning.length > 3 && texts.some((text) => text.startsWith(beginning));
      const title = isBeginning ? ERASED : eraseInString(former, texts);
      if (title === former) continue;
      send(db.update(session).set({ title }).where(eq(session.key, key)));
      erased += 1;
    }
    return erased;
  });
}

/** Replaces whole messages. */
async function eraseMessages(database: Database, messages: EraseRequest["messages"]): Promise<number> {
  let erased = 0;
  for (let from = 0; from < messages.length; from += MAX_CHANGES) {
    const chunk = messages.slice(from, from + MAX_CHANGES);
    erased += await database.write((tx) => eraseContents(tx, chunk));
  }
  return erased;
}

async function eraseContents({ db, send }: Transaction, messages: EraseRequest["messages"]): Promise<number> {
  const isMessage = ({ sessionKey, seq }: EraseRequest["messages"][number]) =>
    and(eq(message.sessionKey, sessionKey), eq(message.seq, seq));
  const rows = await db
    .select()
    .from(message)
    .where(and(eq(message.kind, "message"), or(...messages.map(isMessage))))
    .for("update");
  for (const row of rows)
    send(
      db
        .update(message)
        .set({ body: eraseContent(row.body) })
        .where(isMessage(row)),
    );
  return rows.length;
}
