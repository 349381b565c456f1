import type { PostgresReport } from "@signalbox/store-postgres";
import type { Finding } from "./finding.ts";

/** Difference between two clocks that is reported, in milliseconds. */
const MAX_SKEW_MS = 2_000;
/** Oldest supported version of the server, as in `server_version_num`. */
const MIN_SERVER = 150_000;
/** Age of a snapshot that is reported, in milliseconds. */
const MAX_SNAPSHOT_MS = 60 * 60_000;
const MINUTE_MS = 60_000;

/** Checks the server and the connection to it. */
export function checkPostgres(report: PostgresReport): Finding[] {
  const { server, schemaVersion, databaseBytes, clockSkewMs } = report;
  const detail =
    schemaVersion === 0
      ? `PostgreSQL ${server}, tables are created at the first start`
      : `PostgreSQL ${server}, version ${schemaVersion}, ${databaseBytes} bytes, clock differs by ${clockSkewMs} ms`;
  return [
    ...findProblems(report, detail),
    checkAutovacuum(report),
    checkSnapshot(report),
    checkStandby(report),
  ];
}

/** Checks everything without which messages could be lost, delayed or answered twice. */
function findProblems(report: PostgresReport, detail: string): Finding[] {
  const { server, serverNumber, clockSkewMs, hasTimeouts, isStandby, unsafeSettings } = report;
  const problem = (isFound: boolean, text: string, remedy: string): Finding[] =>
    isFound ? [{ part: "database", state: "error", detail: text, remedy }] : [];
  const problems = [
    ...problem(serverNumber < MIN_SERVER, `PostgreSQL ${server} is too old`, "Use PostgreSQL 15 or later."),
    ...problem(
      isStandby,
      "The server is a standby and accepts no writes",
      "Point `store.url` to the primary, for instance with `target_session_attrs=read-write`.",
    ),
    ...problem(
      !hasTimeouts,
      "The time limits of transactions (`statement_timeout`, `idle_in_transaction_session_timeout`) are not in effect",
      "A connection pooler drops `SET LOCAL`. Use its transaction mode, and set both limits on the database role.",
    ),
    ...problem(
      Math.abs(clockSkewMs) > MAX_SKEW_MS,
      `The clock of this machine differs from the database server's by ${clockSkewMs} ms`,
      "Synchronize both clocks with NTP.",
    ),
    ...problem(
      unsafeSettings.length > 0,
      `A crash of the server can lose acknowledged messages: ${unsafeSettings.join(", ")}`,
      "Turn these settings on.",
    ),
  ];
  return problems.length > 0 ? problems : [{ part: "database", state: "ok", detail }];
}

function checkAutovacuum({ hasAutovacuum }: PostgresReport): Finding {
  const part = "autovacuum";
  if (hasAutovacuum) return { part, state: "ok", detail: "on" };
  return {
    part,
    state: "warning",
    detail: "off: deleted rows keep their space, and the database gets slower",
    remedy: "Set `autovacuum = on` and `track_counts = on` on the server.",
  };
}

function checkSnapshot({ oldestSnapshotMs }: PostgresReport): Finding {
  const part = "oldest transaction";
  const minutes = Math.floor(oldestSnapshotMs / MINUTE_MS);
  if (oldestSnapshotMs <= MAX_SNAPSHOT_MS)
    return { part, state: "ok", detail: minutes === 0 ? "less than a minute old" : `${minutes} minutes old` };
  return {
    part,
    state: "warning",
    detail: `${minutes} minutes old; no deleted row can be removed until it ends`,
    remedy: "Find it in `pg_stat_activity` or `pg_prepared_xacts`, and end it.",
  };
}

function checkStandby({ synchronousStandbys }: PostgresReport): Finding {
  const part = "synchronous standby";
  if (synchronousStandbys !== "") return { part, state: "ok", detail: synchronousStandbys };
  return {
    part,
    state: "ok",
    detail: "none: a failover to a standby can lose the latest messages although they were acknowledged",
  };
}
