export {
  type AuditedConfig,
  type AuditedPerson,
  type AuditedSignIn,
  type AuditNotes,
  type Auditor,
  type DecidedApproval,
  type OpenAuditOptions,
  openAudit,
  type ToolDecision,
} from "./auditor.ts";
export {
  AUDIT_KINDS,
  type AuditEntry,
  type AuditHead,
  type AuditKind,
  type AuditRecord,
  EMPTY_HEAD,
  linkHash,
} from "./chain.ts";
export type { AuditLog, AuditQuery } from "./log.ts";
export { createMemoryAudit } from "./memory.ts";
export { createRecorder, holdsNoted, type Recorder, type RecorderOptions } from "./recorder.ts";
export { type Verdict, verifyChain } from "./verify.ts";
export { fileWitness, type Witness } from "./witness.ts";
