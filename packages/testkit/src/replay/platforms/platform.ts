import type { ReplayedGateway } from "../host.ts";
import type { PlatformCall, PostedEvent } from "../performance.ts";
import type { PlatformEvent, Scenario } from "../scenario.ts";

/** The gateway, as who calls it knows it. */
type GatewayAccess = Pick<ReplayedGateway, "url" | "token">;

/** A chat platform that a scenario is played on. */
export interface ReplayPlatform {
  /** Address and credentials of the stand-in, which the configuration names as `${FEISHU_URL}` and the like. */
  readonly env: Readonly<Record<string, string>>;
  /** Makes an event happen, and resolves once the gateway has answered it. */
  post(event: PlatformEvent, gateway: GatewayAccess): Promise<PostedEvent>;
  /** The gateway's requests that put messages there, in order; asked for once the gateway has stopped. */
  sent(): readonly PlatformCall[] | Promise<readonly PlatformCall[]>;
  stop(): Promise<void>;
}

/** Starts the stand-in of a platform, with the people of the scenario. */
export type StartPlatform = (scenario: Scenario) => Promise<ReplayPlatform>;
