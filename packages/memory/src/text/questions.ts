const ENDS_AS_QUESTION = /[?？]\s*$/;
/** A sentence before the question, long enough to state something. */
const STATES_FIRST = /[.!。！].{12}/s;
const ASKS =
  /[?？]|什么|哪|谁|几|多少|怎么|怎样|为何|吗|呢|\b(?:what(?! an?\b)|who|whom|whose|which|when|where|why|how|remind|tell|recall|remember)\b/i;

/** Returns true if a message asks for something, in English or Chinese, with or without a question mark. */
export function asksSomething(message: string): boolean {
  return ASKS.test(message);
}

/** Returns true if a text is a question without a statement. */
export function onlyAsks(text: string): boolean {
  const trimmed = text.trim();
  return ENDS_AS_QUESTION.test(trimmed) && !STATES_FIRST.test(trimmed);
}
