/**
 * Converts messages of servers that deviate from the specification in ways that leave no doubt. Without this, the SDK
 * rejects such a message as a whole, or drops it, and the request waits until its time limit.
 *
 * @see https://modelcontextprotocol.io/specification/2025-06-18/schema
 */

/** Members that contain arbitrary JSON, in which `null` has a meaning. */
const FREE_FORM = new Set(["structuredContent", "inputSchema", "outputSchema", "arguments", "_meta", "data"]);
/** Messages of the protocol are not nested deeper outside of free-form members. */
const MAX_DEPTH = 16;

/**
 * Removes members that are `null` where the specification only allows them to be absent, and fills in members that
 * servers leave out although nothing depends on them.
 */
function normalizeMessage(message: unknown): unknown {
  if (Array.isArray(message)) return message.map(normalizeMessage);
  if (!isObject(message)) return message;
  const { jsonrpc = "2.0", ...rest } = dropNulls(message, 0);
  return {
    jsonrpc,
    ...rest,
    ...(isObject(rest["result"]) ? { result: normalizeResult(rest["result"]) } : {}),
  };
}

/** Parses and converts one message. Returns text that is not JSON unchanged. */
export function normalizeText(text: string): string {
  try {
    return JSON.stringify(normalizeMessage(JSON.parse(text)));
  } catch {
    return text;
  }
}

/** The result of `initialize` needs members that some servers leave out. */
function normalizeResult(result: JsonRecord): JsonRecord {
  if (typeof result["protocolVersion"] !== "string") return result;
  const { capabilities, serverInfo } = result;
  const info = isObject(serverInfo) ? serverInfo : {};
  return {
    ...result,
    capabilities: isObject(capabilities) ? capabilities : {},
    serverInfo: { name: "unknown", version: "unknown", ...info },
  };
}

type JsonRecord = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function dropNulls(value: JsonRecord, depth: number): JsonRecord {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== null)
      .map(([name, member]) => [name, FREE_FORM.has(name) ? member : dropNested(member, depth + 1)]),
  );
}

function dropNested(value: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item) => dropNested(item, depth + 1));
  return isObject(value) ? dropNulls(value, depth) : value;
}
