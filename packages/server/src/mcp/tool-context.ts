import type { Scope } from "@signalbox/protocol";
import type { Principal } from "../auth/index.ts";
import type { ScopedService } from "../scope.ts";
import type { GatewayService } from "../service.ts";

/** The client of a request and the part of the gateway that it may use. */
export interface McpClientContext {
  readonly service: GatewayService;
  readonly principal: Principal;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

/** A client with its view of the gateway. */
export interface McpToolContext extends McpClientContext {
  readonly scoped: ScopedService;
  /** Returns true if the client's token has the scope. */
  readonly may: (scope: Scope) => boolean;
}
