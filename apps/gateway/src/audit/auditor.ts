import { type AuditEntry, type AuditHead, type AuditLog, fileWitness, type Witness } from "@signalbox/audit";
import type { Config } from "@signalbox/config";
import type { Home } from "@signalbox/home";
import type { SignInEvent } from "@signalbox/server";
import type { PendingSkill } from "@signalbox/skills";
import type { KvStore } from "@signalbox/store";
import type { ResolveOutcome } from "@signalbox/tools";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { GatewayStore } from "../store.ts";

/** What was decided about a tool call. */
interface ToolDecision {
  readonly tool: string;
  readonly decision: string;
  readonly rule: string;
  readonly agentId: string;
  readonly sessionKey: string;
  /** Who speaks in the run. */
  readonly speaker: string;
  readonly call?: string;
}

/** Puts on record what was decided, without keeping anybody waiting. */
export interface Auditor {
  tool(decision: ToolDecision): void;
  approval(outcome: ResolveOutcome, approver: string): void;
  /** An owner has approved a skill as it is. */
  skill(approved: Pick<PendingSkill, "skill" | "digest">, approver: string): void;
  /** An owner vouches for a file of an agent's workspace. */
  trusted(agentId: string, path: string, owner: string): void;
  signIn(event: SignInEvent): void;
  /** The configuration that applies from now on, where it is another one than at the last start. */
  configuration(config: Config, file: string): Promise<void>;
  /** Resolves once everything is on record, and its end is noted beside the database. */
  close(): Promise<void>;
}

interface AuditorOptions {
  readonly log: AuditLog;
  /** Holds the end of the chain outside of the database. */
  readonly witness: Witness;
  readonly kv: Pick<KvStore, "get" | "set">;
  readonly redact: (text: string) => string;
  readonly logger: Logger;
  readonly now: () => number;
}

/** The end of the chain is noted so long after an entry, and holds for all that came meanwhile. */
const WITNESSED_AFTER_MS = 5_000;
const LONGEST_SUBJECT = 500;
/** A secret that begins within the subject is seen whole. */
const MOST_READ = 4_000;

/**
 * Entries go into the commit that is made next anyway: what a decision leads to is written behind it, so that it is on
 * record before its effect is.
 */
function createAuditor(options: AuditorOptions): Auditor {
  const { log, witness, kv, redact, logger, now } = options;
  let last: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const noteEnd = async (): Promise<void> => {
    timer = undefined;
    try {
      witness.write(await log.head());
    } catch (error) {
      logger.error({ err: messageOf(error) }, "the end of the audit chain could not be noted");
    }
  };
  const note = (entry: Omit<AuditEntry, "at">): Promise<void> => {
    const subject = redact(entry.subject.slice(0, MOST_READ)).slice(0, LONGEST_SUBJECT);
    last = log.append({ ...entry, subject, at: now() }).catch((error: unknown) => {
      logger.error({ err: messageOf(error), kind: entry.kind }, "a decision could not be put on record");
    });
    timer ??= setTimeout(() => void noteEnd(), WITNESSED_AFTER_MS).unref();
    return last;
  };

  return {
    tool({ tool, decision, rule, agentId, sessionKey, speaker, call }) {
      const details = { rule, agent: agentId, session: sessionKey, ...(call === undefined ? {} : { call }) };
      void note({ kind: "tool", action: decision, actor: speaker, subject: tool, details });
    },
    approval(outcome, approver) {
      if (!outcome.ok) return;
      const { id, tool, subject, agentId, sessionKey, state } = outcome.approval;
      const details = { id, agent: agentId, session: sessionKey };
      void note({
        kind: "approval",
        action: state,
        actor: approver,
        subject: `${tool}: ${subject.action}`,
        details,
      });
    },
    skill({ skill, digest }, approver) {
      const details = { digest, folder: skill.dir };
      void note({
        ...{ kind: "approval", action: "allowed", actor: approver, subject: `skill: ${skill.id}` },
        details,
      });
    },
    trusted(agentId, path, owner) {
      const details = { agent: agentId };
      void note({ kind: "approval", action: "trusted", actor: owner, subject: `file: ${path}`, details });
    },
    signIn({ action, principal: { name, role }, remote }) {
      void note({ kind: "sign-in", action, actor: name, subject: remote, details: { role } });
    },
    async configuration(config, file) {
      const hash = fingerprint(config);
      if ((await kv.get("audit", "configuration")) === hash) return;
      const { owners, allow } = config.access;
      const details = { hash, owners: owners.join(" "), allow: allow.join(" ") };
      await note({ kind: "configuration", action: "changed", actor: "operator", subject: file, details });
      await kv.set("audit", "configuration", hash);
    },
    async close() {
      await last;
      clearTimeout(timer);
      await noteEnd();
    },
  };
}

function fingerprint(config: Config): string {
  return process.getBuiltinModule("node:crypto").hash("sha256", JSON.stringify(config));
}

export interface OpenAuditOptions extends Pick<AuditorOptions, "redact" | "logger" | "now"> {
  readonly store: Pick<GatewayStore, "audit" | "kv">;
  readonly home: Home;
}

/** The record of a home. Where it has lost what was noted beside the database, that is said, and the note stays. */
export async function openAudit({ store, home, logger, ...rest }: OpenAuditOptions): Promise<Auditor> {
  const { audit: log, kv } = store;
  const file = fileWitness(home.auditHeadFile);
  const isWhole = await holdsNoted(log, file);
  if (!isWhole) {
    const message = "the audit chain is not as it was noted: `signalbox audit verify` says where it breaks";
    logger.error({ noted: home.auditHeadFile }, message);
  }
  const witness: Witness = isWhole ? file : { read: file.read, write: () => {} };
  return createAuditor({ log, witness, kv, logger, ...rest });
}

async function holdsNoted(log: Pick<AuditLog, "list">, witness: Witness): Promise<boolean> {
  try {
    const noted = witness.read();
    return noted === undefined || (await holds(log, noted));
  } catch {
    return false;
  }
}

/** Whether a chain still has the record whose hash was noted. */
async function holds(log: Pick<AuditLog, "list">, { count, hash }: AuditHead): Promise<boolean> {
  if (count === 0) return true;
  const [record] = await log.list({ after: count - 1, limit: 1 });
  return record?.seq === count && record.hash === hash;
}
