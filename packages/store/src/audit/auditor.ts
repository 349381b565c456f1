import { hash } from "node:crypto";
import type { AuditLog } from "../types/audit.ts";
import { createRecorder, matchesWitness, type Recorder } from "./recorder.ts";
import { fileWitness, type Witness } from "./witness.ts";

/** A policy decision about a tool call. */
export interface ToolDecision {
  readonly tool: string;
  readonly decision: string;
  readonly rule: string;
  readonly agentId: string;
  readonly sessionKey: string;
  /** The sender of the message that the run answers. */
  readonly speaker: string;
  readonly call?: string;
}

/** A person's decision about a tool call. */
export interface DecidedApproval {
  readonly id: string;
  readonly tool: string;
  readonly subject: { readonly action: string };
  readonly agentId: string;
  readonly sessionKey: string;
  readonly state: string;
}

/** The configuration and the access settings. */
export interface AuditedConfig {
  readonly access: { readonly owners: readonly string[]; readonly allow: readonly string[] };
}

/** Records a gateway's decisions in the background. */
export interface Auditor {
  tool(decision: ToolDecision): void;
  approval(decided: DecidedApproval, approver: string): void;
  /** An owner approved a version of a skill. */
  skill(
    approved: { readonly skill: { readonly id: string; readonly dir: string }; readonly digest: string },
    approver: string,
  ): void;
  /** An owner marked a file in an agent's workspace as trusted. */
  trusted(agentId: string, path: string, owner: string): void;
  pairing(
    action: "approved" | "revoked",
    person: { readonly channel: string; readonly account: string; readonly peer: string },
    by: string,
  ): void;
  /** A client of the API changed the configuration file. */
  configurationWritten(
    details: { readonly revision: string; readonly sections: string; readonly programs: string },
    file: string,
    by: string,
  ): void;
  /** A client of the API created or revoked a token. */
  token(action: "added" | "revoked", name: string, by: string, role?: string): void;
  /** A client of the API changed something else, such as a schedule or a reply. */
  operation(
    operation: {
      readonly action: string;
      readonly subject: string;
      readonly details?: Readonly<Record<string, string | number | boolean>>;
    },
    by: string,
  ): void;
  /** A person signed in or out with a token. */
  signIn(event: {
    readonly action: string;
    readonly principal: { readonly name: string; readonly role: string };
    readonly remote: string;
    /** Kind of the sign-in, such as `oidc`. */
    readonly method?: string | undefined;
  }): void;
  /** An owner let the gateway act with an account at an MCP server, or ended this. */
  mcpSignIn(action: "signed_in" | "signed_out", server: string, by: string): void;
  /** Records the configuration if it differs from the last recorded one, which an earlier process may have recorded. */
  configuration(config: AuditedConfig, file: string): Promise<void>;
  /** Waits for pending entries, then writes the head of the chain to its file. */
  close(): Promise<void>;
}

/** Stores the digest of the last recorded configuration. */
export interface AuditNotes {
  get(namespace: string, key: string): Promise<unknown>;
  set(namespace: string, key: string, value: string): Promise<unknown>;
}

export interface OpenAuditOptions {
  readonly log: AuditLog;
  readonly notes: AuditNotes;
  /** The file that stores the head of the chain outside the log. */
  readonly headFile: string;
  /** Removes secrets from a string. */
  readonly redact: (text: string) => string;
  /** Called if an entry or the head could not be written, or if the log was truncated. */
  readonly onProblem: (message: string, details: object) => void;
  readonly now: () => number;
}

const PROBLEMS = {
  entry: "failed to write an audit entry",
  head: "failed to write the head of the audit chain",
} as const;

/**
 * Opens a gateway's audit log. If the log no longer contains the head in `headFile`, reports a problem and never
 * overwrites the file, so that `signalbox audit verify` keeps failing.
 */
export async function openAudit(options: OpenAuditOptions): Promise<Auditor> {
  const { log, notes, headFile, redact, onProblem, now } = options;
  const file = fileWitness(headFile);
  const isIntact = await matchesWitness(log, file);
  if (!isIntact) onProblem("the audit chain does not contain its recorded head", { noted: headFile });
  const witness: Witness = isIntact ? file : { read: file.read, write: () => {} };
  const recorder = createRecorder({
    log,
    witness,
    redact,
    onProblem: (problem, error) => onProblem(PROBLEMS[problem], { err: String(error) }),
    now,
  });
  return createAuditor(recorder, notes);
}

function createAuditor({ note, close }: Recorder, notes: AuditNotes): Auditor {
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
    configurationWritten(details, file, by) {
      void note({ kind: "configuration", action: "written", actor: by, subject: file, details });
    },
    token(action, name, by, role) {
      const event = { kind: "token", action, actor: by, subject: name } as const;
      void note(role === undefined ? event : { ...event, details: { role } });
    },
    operation({ action, subject, details = {} }, by) {
      void note({ kind: "operation", action, actor: by, subject, details });
    },
    signIn({ action, principal: { name, role }, remote, method }) {
      const details = { role, ...(method === undefined ? {} : { method }) };
      void note({ kind: "sign_in", action, actor: name, subject: remote, details });
    },
    mcpSignIn(action, server, by) {
      void note({ kind: "approval", action, actor: by, subject: `MCP server: ${server}` });
    },
    async configuration(config, file) {
      const digest = hash("sha256", JSON.stringify(config));
      if ((await notes.get("audit", "configuration")) === digest) return;
      const { owners, allow } = config.access;
      const details = { hash: digest, owners: owners.join(" "), allow: allow.join(" ") };
      await note({ kind: "configuration", action: "changed", actor: "operator", subject: file, details });
      await notes.set("audit", "configuration", digest);
    },
    close,
  };
}
