import type { ReplayedGateway } from "../host.ts";
import type { PlatformCall, PostedEvent } from "../performance.ts";
import type { PlatformEvent, Scenario } from "../scenario.ts";

/** URL and token of the gateway. */
export type GatewayAccess = Pick<ReplayedGateway, "url" | "token">;

/** A chat platform on which a scenario is played. */
export interface ReplayPlatform {
  /** URL and credentials of the fake server. The configuration refers to them as `${FEISHU_URL}` and so on. */
  readonly env: Readonly<Record<string, string>>;
  /** Creates an event and resolves once the gateway responded to it. */
  post(event: PlatformEvent, gateway: GatewayAccess): Promise<PostedEvent>;
  /** Returns the gateway's requests that sent messages, in order. Called after the gateway stopped. */
  sent(): readonly PlatformCall[] | Promise<readonly PlatformCall[]>;
  stop(): Promise<void>;
}

/** Starts a platform's fake server with the people in the scenario. */
export type StartPlatform = (scenario: Scenario) => Promise<ReplayPlatform>;
