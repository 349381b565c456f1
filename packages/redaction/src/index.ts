export { findEnvironmentSecrets } from "./environment.ts";
export { redactJson } from "./json.ts";
export {
  createRedactor,
  createVault,
  type Redact,
  redactBeginning,
  redactErrors,
  type Vault,
} from "./redactor.ts";
export type { RedactedStream } from "./stream.ts";
