export { attachmentsSeen } from "./attachments-seen.ts";
export { createService, type ServiceOptions } from "./create-service.ts";
export type { Exchange, KeptExchanges } from "./exchange.ts";
export type { ServiceBodies, ServiceStore, StoredMessage, StoredRow } from "./stored.ts";
export type { SubmitPorts, Surfaces } from "./submit.ts";
export { type ExplainRoute, findMessage, messageInfo, readTrace } from "./traces.ts";
