export type * from "../types/audit.ts";
export {
  type AuditedConfig,
  type AuditNotes,
  type Auditor,
  type DecidedApproval,
  type OpenAuditOptions,
  openAudit,
  type ToolDecision,
} from "./auditor.ts";
export { AUDIT_KINDS } from "./chain.ts";
export { type Verdict, verifyChain } from "./verify.ts";
export { fileWitness, type Witness } from "./witness.ts";
