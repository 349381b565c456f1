import type { AuditKind, AuditQuery, LogEntry } from "@signalbox/protocol";
import type { AdminService } from "@signalbox/server";
import { fileWitness, verifyChain } from "@signalbox/store/audit";
import type { AuditEntry, AuditLog } from "@signalbox/store/types";
import { isAtLeast, readLogLine } from "@signalbox/telemetry";
import type { GatewayContext } from "../../context.ts";
import { toApprovalInfo } from "../approval-info.ts";
import { openLog } from "../log-reader.ts";

type RecordAdmin = Pick<AdminService, "approvalHistory" | "audit" | "verifyAudit" | "logs">;

/** Number of audit entries that are read at once to find those of a kind. */
const SCAN = 2_000;
const MAX_FIELD_CHARS = 2_000;

/** Reads records: decided approvals, the audit log and the log file. */
export function createRecordAdmin({ store, home, redact }: GatewayContext): RecordAdmin {
  return {
    async approvalHistory(limit) {
      const approvals = await store.approvals.list({ limit });
      return {
        approvals: approvals.map((approval) => {
          const { state, createdAt, decidedAt, approver } = approval;
          return { ...toApprovalInfo(approval), state, createdAt, decidedAt, approver };
        }),
      };
    },
    async audit(query) {
      const entries = await readAudit(store.audit, query);
      const oldest = entries.at(-1)?.seq ?? 1;
      const shown = entries.map(({ hash: _, ...entry }) => entry);
      return { entries: shown, ...(entries.length === query.limit && oldest > 1 ? { next: oldest } : {}) };
    },
    async verifyAudit() {
      const noted = fileWitness(home.auditHeadFile).read();
      const verdict = await verifyChain(store.audit, noted === undefined ? [] : [noted]);
      const { count } = await store.audit.head();
      return verdict.intact
        ? { intact: true, count: verdict.head.count }
        : { intact: false, count, seq: verdict.seq, reason: verdict.reason };
    },
    async logs({ level, lines }) {
      const log = openLog(home.logFile);
      if (log === undefined) return { lines: [] };
      try {
        const wanted = log.read().flatMap((text): LogEntry[] => {
          const line = readLogLine(text);
          if (line === undefined || !isAtLeast(line.level, level)) return [];
          const fields = Object.entries(line.fields).map(([name, value]) => [
            name,
            redact(formatField(value)),
          ]);
          return [
            {
              at: Date.parse(line.time),
              level: line.level,
              message: redact(line.message),
              fields: Object.fromEntries(fields),
            },
          ];
        });
        return { lines: wanted.slice(-lines) };
      } finally {
        log.close();
      }
    },
  };
}

/** Returns the latest entries before a number, newest first. */
async function readAudit(
  log: Pick<AuditLog, "list" | "head">,
  { kind, before, limit }: AuditQuery,
): Promise<readonly AuditEntry[]> {
  let end = Math.min(before ?? Number.MAX_SAFE_INTEGER, (await log.head()).count + 1);
  const found: AuditEntry[] = [];
  while (end > 1 && found.length < limit) {
    const size = kind === undefined ? limit : SCAN;
    const after = Math.max(0, end - 1 - size);
    const page = await log.list({ after, limit: end - 1 - after });
    const matching = page.filter((entry) => kind === undefined || isKind(entry, kind));
    found.push(...matching.toReversed());
    end = after + 1;
  }
  return found.slice(0, limit);
}

function isKind(entry: AuditEntry, kind: AuditKind): boolean {
  return entry.kind === kind;
}

function formatField(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.slice(0, MAX_FIELD_CHARS);
}
