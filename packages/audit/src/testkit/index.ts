export { auditConformance } from "./conformance.ts";
