export { environmentSecrets } from "./environment.ts";
export { redactJson } from "./json.ts";
export { createRedactor, type Redact } from "./redactor.ts";
