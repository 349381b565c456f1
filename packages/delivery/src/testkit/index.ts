export { type OutboxUnderTest, outboxConformance } from "./conformance.ts";
export { createMemoryOutbox, type MemoryOutbox } from "./memory-outbox.ts";
