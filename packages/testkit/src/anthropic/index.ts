export {
  type AnthropicOptions,
  type AnthropicRequest,
  type AnthropicStandIn,
  startAnthropic,
} from "./server.ts";
