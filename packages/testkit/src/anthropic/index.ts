export { type FakeClaudePlan, startFakeClaudePlan } from "./fake-claude-plan.ts";
export {
  type AnthropicOptions,
  type AnthropicRequest,
  type FakeAnthropic,
  startAnthropic,
} from "./server.ts";
