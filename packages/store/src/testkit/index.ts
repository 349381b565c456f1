export { storeConformance } from "./conformance.ts";
export { storeSuites } from "./suites/all.ts";
export type { SuiteRunner } from "./suites/suite.ts";
export type { StoreUnderTest, Test } from "./under-test.ts";
