import type { AuditLog } from "./log.ts";
import { createRecorder, holdsNoted, type Recorder } from "./recorder.ts";
import { fileWitness, type Witness } from "./witness.ts";

/** What was decided about a tool call. */
export interface ToolDecision {
  readonly tool: string;
  readonly decision: string;
  readonly rule: string;
  readonly agentId: string;
  readonly sessionKey: string;
  /** Who speaks in the run. */
  readonly speaker: string;
  readonly call?: string;
}

/** What a person was asked about a tool call, with the answer. */
export interface DecidedApproval {
  readonly id: string;
  readonly tool: string;
  readonly subject: { readonly action: string };
  readonly agentId: string;
  readonly sessionKey: string;
  readonly state: string;
}

/** A person on an account of a channel. */
export interface AuditedPerson {
  readonly channel: string;
  readonly account: string;
  readonly peer: string;
}

/** A person who signed in or out, with a token. */
export interface AuditedSignIn {
  readonly action: string;
  readonly principal: { readonly name: string; readonly role: string };
  readonly remote: string;
}

/** A configuration, with who may do what by it. */
export interface AuditedConfig {
  readonly access: { readonly owners: readonly string[]; readonly allow: readonly string[] };
}

/** Records decisions without making anyone wait. */
export interface Auditor {
  tool(decision: ToolDecision): void;
  approval(decided: DecidedApproval, approver: string): void;
  /** An owner has approved a skill as it is. */
  skill(
    approved: { readonly skill: { readonly id: string; readonly dir: string }; readonly digest: string },
    approver: string,
  ): void;
  /** An owner vouches for a file of an agent's workspace. */
  trusted(agentId: string, path: string, owner: string): void;
  /** A person was let in, or unpaired. */
  pairing(action: "approved" | "revoked", person: AuditedPerson, by: string): void;
  signIn(event: AuditedSignIn): void;
  /** The configuration that applies from now on, where it is another one than at the last start. */
  configuration(config: AuditedConfig, file: string): Promise<void>;
  /** Resolves once everything is recorded, and the end is noted beside the database. */
  close(): Promise<void>;
}

function auditorOf({ note, close }: Recorder, notes: AuditNotes): Auditor {
  return {
    tool({ tool, decision, rule, agentId, sessionKey, speaker, call }) {
      const details = { rule, agent: agentId, session: sessionKey, ...(call === undefined ? {} : { call }) };
      void note({ kind: "tool", action: decision, actor: speaker, subject: tool, details });
    },
    approval({ id, tool, subject, agentId, sessionKey, state }, approver) {
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
      const fingerprint = process.getBuiltinModule("node:crypto").hash("sha256", JSON.stringify(config));
      if ((await notes.get("audit", "configuration")) === fingerprint) return;
      const { owners, allow } = config.access;
      const details = { hash: fingerprint, owners: owners.join(" "), allow: allow.join(" ") };
      await note({ kind: "configuration", action: "changed", actor: "operator", subject: file, details });
      await notes.set("audit", "configuration", fingerprint);
    },
    close,
  };
}

/** Where the last configuration is noted, by a namespace and a key. */
export interface AuditNotes {
  get(namespace: string, key: string): Promise<unknown>;
  set(namespace: string, key: string, value: string): Promise<unknown>;
}

export interface OpenAuditOptions {
  readonly log: AuditLog;
  readonly notes: AuditNotes;
  /** Where the end of the chain is noted, beside the log. */
  readonly headFile: string;
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string;
  /** Told what is wrong with the record, with what is known of it. */
  readonly onProblem: (message: string, details: object) => void;
  readonly now: () => number;
}

const PROBLEMS = {
  entry: "a decision could not be put on record",
  head: "the end of the audit chain could not be noted",
} as const;

/** The record of a service. If it has lost what was noted beside its log, that is reported, and the note stays. */
export async function openAudit(options: OpenAuditOptions): Promise<Auditor> {
  const { log, notes, headFile, redact, onProblem, now } = options;
  const file = fileWitness(headFile);
  const isWhole = await holdsNoted(log, file);
  if (!isWhole) onProblem("the audit chain is not as it was noted", { noted: headFile });
  const witness: Witness = isWhole ? file : { read: file.read, write: () => {} };
  const recorder = createRecorder({
    log,
    witness,
    redact,
    onProblem: (problem, error) => onProblem(PROBLEMS[problem], { err: String(error) }),
    now,
  });
  return auditorOf(recorder, notes);
}
