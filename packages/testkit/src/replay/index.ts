export { differences } from "./check.ts";
export type { ReplayClock, ReplayedGateway, ReplayHost, ReplaySetup } from "./host.ts";
export { perform } from "./perform.ts";
export type {
  GatewayRecords,
  Performance,
  PerformedMessage,
  PerformedReply,
  PerformedTool,
} from "./performance.ts";
export {
  type Expectation,
  type PlatformEvent,
  readScenario,
  type Scenario,
  ScenarioError,
} from "./scenario.ts";
export { show } from "./show.ts";
