import type { FileTables, StoredRow } from "@signalbox/store";
import { verifyChain } from "@signalbox/store/audit";
import { decode, decodeIntact } from "@signalbox/store/backend";
import { StoreError } from "@signalbox/store/errors";
import pg from "pg";
import { connectionConfig } from "./connections.ts";
import { insertRows, withColumns } from "./copy-rows.ts";
import { openPostgresStore } from "./open.ts";

/** Tables with the same columns in both databases. */
const SAME = [
  ...["access_token", "web_session", "approval", "audit_record", "audit_head", "budget_pot"],
  ...["budget_reservation", "dedupe", "group_history", "kv", "lease", "told_history", "pairing_request"],
  ...["pairing_peer", "route_cache", "tool_call", "trace", "usage_day", "usage_model_day"],
];

/** Sequences and the columns that they number. */
const NUMBERED = { approval: "n", group_history: "n", inbox: "seq", outbox: "seq", run: "n", trace: "n" };

/** Queries of a file, and the rows that they become. */
const CHANGED: Readonly<
  Record<string, readonly [query: string, change: (row: StoredRow) => ReturnType<typeof withColumns>]>
> = {
  message_context: [
    "SELECT * FROM message_context",
    (row) => withColumns(row, { for_owner: row["for_owner"] === 1 }),
  ],
  inbox: [
    "SELECT inbox.*, entry.body AS body FROM inbox LEFT JOIN entry ON entry.id = inbox.entry",
    (row) => {
      const { payload, ...event } = decode<Record<string, string>>(
        String(row["body"]),
        "inbox",
        String(row["seq"]),
      );
      return withColumns(row, {
        entry: undefined,
        body: undefined,
        channel: event["channel"] ?? "",
        account: event["account"] ?? "",
        event_id: event["eventId"] ?? "",
        message_id: event["messageId"] ?? null,
        kind: event["kind"] ?? "",
        conversation_id: event["conversationId"] ?? "",
        sender_id: event["senderId"] ?? "",
        payload: JSON.stringify(payload),
      });
    },
  ],
  outbox: [
    "SELECT outbox.*, entry.body AS body, entry.session_key AS session_key FROM outbox LEFT JOIN entry ON entry.id = outbox.entry",
    (row) =>
      withColumns(row, {
        entry: undefined,
        body: undefined,
        payload: row["body"] ?? null,
        keyed: row["keyed"] === 1,
        answers: toNumbers(row["answers"]),
      }),
  ],
  // Messages of removed sessions may have the same numbers. The newest ones belong to the present session.
  message: [
    "SELECT session_key, seq, kind, generation, run, at, body FROM entry WHERE kind IN ('message', 'summary') ORDER BY id DESC",
    (row) => withColumns(row, {}),
  ],
  session: [
    `SELECT session.*, summary.seq AS summary_seq, active_run.run AS active_run,
      active_run.last_seq AS active_seq, active_run.message_count AS active_count
     FROM session LEFT JOIN entry AS summary ON summary.id = session.summary_entry
     LEFT JOIN active_run ON active_run.session_key = session.key`,
    (row) =>
      withColumns(row, {
        last_entry: undefined,
        summary_entry: undefined,
        last_run: undefined,
        active_seq: undefined,
        active_count: undefined,
        last_seq: row["active_seq"] ?? row["last_seq"],
        message_count: row["active_count"] ?? row["message_count"],
      }),
  ],
  run: [
    "SELECT * FROM run",
    (row) =>
      withColumns(row, {
        prev_run: undefined,
        last_entry: undefined,
        inbox: toNumbers(row["inbox"]),
        outbox: toNumbers(row["outbox"]),
      }),
  ],
};

const toNumbers = (text: StoredRow[string] | undefined): readonly number[] =>
  decodeIntact<readonly number[]>(typeof text === "string" ? text : "[]") ?? [];

/**
 * Copies the tables of a file into an empty database, in one transaction, and compares the number of rows and the audit
 * chain. No gateway may use either of them.
 *
 * @returns the number of copied rows by table
 * @throws StoreError `conflict` if the database has data, `corrupt` if the copy differs
 */
export async function copyFile(url: string, file: FileTables): Promise<Readonly<Record<string, number>>> {
  // Creates the tables.
  const store = await openPostgresStore({ url, connections: 2, hints: false });
  const client = new pg.Client(connectionConfig(url));
  try {
    await client.connect();
    await client.query("BEGIN");
    const copied: Record<string, number> = {};
    for (const table of [...SAME, ...Object.keys(CHANGED)]) {
      const { rowCount } = await client.query(`SELECT 1 FROM "${table}" LIMIT 1`);
      if (rowCount !== 0)
        throw new StoreError(
          "conflict",
          `The table ${table} of the PostgreSQL database has rows: use an empty one.`,
        );
      copied[table] = await copyTable(client, table, file);
    }
    for (const [table, column] of Object.entries(NUMBERED))
      await client.query(
        `SELECT setval('${table}_${column}_seq', coalesce(max(${column}), 0) + 1, false) FROM "${table}"`,
      );
    await client.query("COMMIT");
    const verdict = await verifyChain(store.audit);
    const [head] = [...file.rows("SELECT count, hash FROM audit_head")];
    const { count, hash } = await store.audit.head();
    if (!verdict.intact || count !== (head?.["count"] ?? 0) || hash !== (head?.["hash"] ?? ""))
      throw new StoreError("corrupt", "The audit chain of the copy differs from that of the file.");
    return copied;
  } finally {
    await client.end();
    await store.close();
  }
}

async function copyTable(client: pg.Client, table: string, file: FileTables): Promise<number> {
  const [query, change] = CHANGED[table] ?? [
    `SELECT * FROM "${table}"`,
    (row: StoredRow) => withColumns(row, {}),
  ];
  const inserted = await insertRows(client, table, mapRows(file.rows(query), change));
  const counted = table === "message" ? `SELECT DISTINCT session_key, seq FROM (${query})` : query;
  const [row] = [...file.rows(`SELECT count(*) AS n FROM (${counted})`)];
  if (row?.["n"] === inserted) return inserted;
  throw new StoreError("corrupt", `${inserted} of ${row?.["n"]} rows of the table ${table} could be copied.`);
}

function* mapRows<A, B>(rows: Iterable<A>, change: (row: A) => B): Generator<B> {
  for (const row of rows) yield change(row);
}
