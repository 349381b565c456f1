export { journalConformance, type RunsUnderTest } from "./conformance.ts";
