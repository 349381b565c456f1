import { reasonOf } from "@signalbox/agent-core";

/**
 * Describes a failure of an authorization server without the content of its response, which could contain a token.
 */
export function describeFailure(error: unknown): string {
  if (!(error instanceof Error)) return "an unknown error";
  // The SDK's errors for responses have an OAuth error code. Their message contains the response.
  const code: unknown = Reflect.get(error, "errorCode");
  if (typeof code === "string")
    return /^HTTP \d{3}/.exec(error.message)?.[0] ?? `the error ${code.slice(0, 60).replace(/[^\w.-]/g, "")}`;
  if (error.name === "ZodError" || error.name === "$ZodError" || error instanceof SyntaxError)
    return "a response with another form";
  if (error.name === "TimeoutError") return "no response in time";
  return reasonOf(error).slice(0, 300);
}
