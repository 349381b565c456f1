/** Everything that happened while a scenario was played, by layer. */
export interface Performance extends GatewayRecords {
  readonly name: string;
  readonly problems: readonly string[];
  readonly events: readonly PostedEvent[];
  readonly requests: readonly { readonly body: unknown; readonly text: string; readonly status: number }[];
  readonly turns: readonly unknown[];
  readonly sent: readonly PlatformCall[];
  /** Contents of the files that the scenario specifies. */
  readonly files: Readonly<Record<string, string | undefined>>;
}

/** The gateway's records of its messages. */
export interface GatewayRecords {
  readonly messages: readonly PerformedMessage[];
  readonly tools: readonly PerformedTool[];
  readonly outbox: readonly PerformedReply[];
}

/** A platform event and the status of the response. */
export interface PostedEvent {
  readonly sent: unknown;
  readonly status: number;
}

/** A request from the gateway to the platform. */
export interface PlatformCall {
  readonly channel: string;
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface PerformedMessage {
  readonly id: string;
  readonly state: string;
  readonly rule?: string;
  readonly inbound: unknown;
  readonly agent?: string;
  readonly sessionKey?: string;
  /** Explanation of the route. */
  readonly route: RouteExplanation;
  readonly trace: readonly TraceEntry[];
}

interface RouteExplanation {
  readonly tiers: readonly { readonly tier: string; readonly outcome: string; readonly reason: string }[];
  readonly session: { readonly reason: string };
}

interface TraceEntry {
  readonly stage: string;
  readonly summary: string;
  readonly data?: unknown;
}

export interface PerformedTool {
  readonly name: string;
  readonly args: unknown;
  readonly isError: boolean;
  readonly text: string;
  readonly details?: unknown;
}

/** An outbox row. */
export interface PerformedReply {
  readonly id: string;
  readonly key: string;
  readonly state: string;
  readonly channel: string;
  readonly address: unknown;
  readonly payload: unknown;
  readonly receipts: unknown;
}
