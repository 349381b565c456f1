export {
  type AccessStore,
  type Auth,
  type AuthOptions,
  type ClientRole,
  createAuth,
  createMemoryAccess,
  type NamedToken,
  type Principal,
  type SignInEvent,
  tokenHash,
  type WebSession,
} from "./auth/index.ts";
export type { Door } from "./doors.ts";
export { ServerError, type ServerErrorCode } from "./errors.ts";
export type { HookRoutes } from "./hooks.ts";
export { createLiveHub, type LiveHub, type LiveListener } from "./live/hub.ts";
export type { LoggedEvent, Resumed } from "./live/session-log.ts";
export type { Logger } from "./logger.ts";
export { createOutcomes, type Outcomes } from "./outcomes.ts";
export { liveWithRedaction, redactedOutcome } from "./redaction.ts";
export { type HttpServer, type ServerOptions, startServer } from "./server.ts";
export {
  type ClientAttachment,
  type ClientTurn,
  type GatewayService,
  isOneOff,
  ONCE,
  type Outcome,
  type OutcomeError,
  type Submission,
  type Submitted,
  type Surface,
  type TurnUsage,
  type UploadedFile,
  type UploadPiece,
  type UploadResult,
} from "./service.ts";
