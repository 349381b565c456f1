export type { AdminService } from "./admin-service.ts";
export { MCP_CALLBACK_PATH } from "./api/mcp-routes.ts";
export { OIDC_LOGOUT_PATH } from "./api/oidc-routes.ts";
export { ApiError } from "./api-error.ts";
export {
  type Auth,
  type AuthOptions,
  type ClientRole,
  checkOidcProvider,
  createAuth,
  getTokenKind,
  hashToken,
  OIDC_CALLBACK_PATH,
  type Principal,
  type ProviderProblem,
  type SignInEvent,
} from "./auth/index.ts";
export { ServerError, type ServerErrorCode } from "./errors.ts";
export type { HookRoutes } from "./inbound-hooks.ts";
export { createLiveHub, type LiveHub, type LiveListener } from "./live/hub.ts";
export { createLiveRelay, type LiveRelay } from "./live/relay.ts";
export { isLiveTopic } from "./live/relay-events.ts";
export type { LoggedEvent, ResumeResult } from "./live/session-log.ts";
export type { Logger } from "./logger.ts";
export { createOutcomes, type Outcomes } from "./outcomes.ts";
export { redactLiveErrors, redactOutcome } from "./redact.ts";
export type { EntryPoint } from "./refusals.ts";
export { type HttpServer, type ServerOptions, startServer } from "./server.ts";
export {
  type ClientAttachment,
  type ClientTurn,
  type GatewayService,
  isOneOff,
  type McpService,
  ONE_OFF_PREFIX,
  type Outcome,
  type OutcomeError,
  type Submission,
  type SubmitResult,
  type Surface,
  type TurnUsage,
  type UploadedFile,
  type UploadPiece,
  type UploadResult,
} from "./service.ts";
