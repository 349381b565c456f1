export { phrasesToAsker } from "./asker-phrases.ts";
export { attachmentsSeen } from "./attachments-seen.ts";
export { acceptOfBot, findOfBot, inboxKeys, inboxName, isOfAnotherBot } from "./bots.ts";
export { ANSWERS } from "./commands/answers.ts";
export { applyChoice } from "./commands/choices.ts";
export type { AnswerOptions, AskedCommand, CommandMessage } from "./commands/command.ts";
export { createService, type ServiceOptions } from "./create-service.ts";
export {
  createExchanges,
  type Exchange,
  type Exchanges,
  type ExchangesPorts,
  type KeptExchanges,
} from "./exchange.ts";
export { lastWords } from "./last-words.ts";
export { type OpenWork, openWork } from "./open-work.ts";
export { type RevokedTokensPorts, watchRevokedTokens } from "./revoked-tokens.ts";
export type {
  PlacedMessage,
  ServiceBodies,
  ServiceStore,
  StoredMessage,
  StoredRow,
} from "./service-store.ts";
export { sessionSeed } from "./session-seed.ts";
export type { SubmitPorts, Surfaces } from "./submit.ts";
export { createSurfaces } from "./surfaces.ts";
export { type ExplainRoute, findMessage, isOfConversation, messageInfo, readTrace } from "./traces.ts";
export { daysAgo } from "./usage.ts";
