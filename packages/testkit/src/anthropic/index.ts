export {
  type AnthropicOptions,
  type AnthropicRequest,
  type FakeAnthropic,
  startAnthropic,
} from "./server.ts";
