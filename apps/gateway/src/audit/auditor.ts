import { createRecorder, fileWitness, holdsNoted, type Recorder, type Witness } from "@signalbox/audit";
import type { Config } from "@signalbox/config";
import type { Home } from "@signalbox/home";
import type { Person } from "@signalbox/protocol";
import type { SignInEvent } from "@signalbox/server";
import type { PendingSkill } from "@signalbox/skills";
import type { KvStore } from "@signalbox/store";
import type { Logger } from "@signalbox/telemetry/logger";
import type { ResolveOutcome } from "@signalbox/tools";
import { messageOf } from "../errors.ts";
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
  /** Somebody was let in, or is not any more. */
  pairing(action: "approved" | "revoked", person: Person, by: string): void;
  signIn(event: SignInEvent): void;
  /** The configuration that applies from now on, where it is another one than at the last start. */
  configuration(config: Config, file: string): Promise<void>;
  /** Resolves once everything is on record, and its end is noted beside the database. */
  close(): Promise<void>;
}

function auditorOf({ note, close }: Recorder, kv: Pick<KvStore, "get" | "set">): Auditor {
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
        kind: "approval",
        action: "allowed",
        actor: approver,
        subject: `skill: ${skill.id}`,
        details,
      });
    },
    trusted(agentId, path, owner) {
      const details = { agent: agentId };
      void note({ kind: "approval", action: "trusted", actor: owner, subject: `file: ${path}`, details });
    },
    pairing(action, { channel, account, peer }, by) {
      void note({ kind: "pairing", action, actor: by, subject: `${channel}:${account}:${peer}` });
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
    close,
  };
}

function fingerprint(config: Config): string {
  return process.getBuiltinModule("node:crypto").hash("sha256", JSON.stringify(config));
}

export interface OpenAuditOptions {
  readonly store: Pick<GatewayStore, "audit" | "kv">;
  readonly home: Home;
  readonly redact: (text: string) => string;
  readonly logger: Logger;
  readonly now: () => number;
}

const PROBLEMS = {
  entry: "a decision could not be put on record",
  head: "the end of the audit chain could not be noted",
} as const;

/** The record of a home. Where it has lost what was noted beside the database, that is said, and the note stays. */
export async function openAudit({ store, home, redact, logger, now }: OpenAuditOptions): Promise<Auditor> {
  const { audit: log, kv } = store;
  const file = fileWitness(home.auditHeadFile);
  const isWhole = await holdsNoted(log, file);
  if (!isWhole) {
    const message = "the audit chain is not as it was noted: `signalbox audit verify` says where it breaks";
    logger.error({ noted: home.auditHeadFile }, message);
  }
  const witness: Witness = isWhole ? file : { read: file.read, write: () => {} };
  const onProblem = (problem: "entry" | "head", error: unknown): void =>
    logger.error({ err: messageOf(error) }, PROBLEMS[problem]);
  return auditorOf(createRecorder({ log, witness, redact, onProblem, now }), kv);
}
