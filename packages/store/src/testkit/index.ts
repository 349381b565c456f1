export { storeConformance } from "./conformance.ts";
export type { StoreUnderTest, Test } from "./under-test.ts";
