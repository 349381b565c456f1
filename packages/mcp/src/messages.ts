/**
 * Converts messages from servers that deviate from the specification in unambiguous ways. Without this, the SDK rejects
 * or drops such a message, and the request waits until its time limit.
 *
 * @see https://modelcontextprotocol.io/specification/2025-06-18/schema
 */

/** Members that contain arbitrary JSON, in which `null` has a meaning. */
const FREE_FORM = new Set(["structuredContent", "inputSchema", "outputSchema", "arguments", "_meta", "data"]);
/** Maximum nesting depth of protocol messages, not counting free-form members. */
const MAX_DEPTH = 16;

/** The id of a request. */
export type RequestId = string | number;

/** The id with which the Python SDK reports an error if it has not read the request. */
const NO_REQUEST = "server-error";

/**
 * Removes members that are `null` although the specification allows only their absence, and adds unimportant members
 * that servers omit.
 */
function normalizeMessage(message: unknown, pending: RequestId | undefined): unknown {
  if (Array.isArray(message)) return message.map((each) => normalizeMessage(each, pending));
  if (!isObject(message)) return message;
  const { jsonrpc = "2.0", ...rest } = dropNulls(message, 0);
  const { id, error, result } = rest;
  const isUnassigned = isObject(error) && (id === undefined || id === NO_REQUEST) && pending !== undefined;
  return {
    jsonrpc,
    ...rest,
    ...(isUnassigned ? { id: pending } : {}),
    ...(isObject(result) ? { result: normalizeResult(result) } : {}),
  };
}

/**
 * Parses and converts one message. Returns text that is not JSON unchanged.
 *
 * @param pending the only request that an error without an id can belong to
 */
export function normalizeText(text: string, pending?: RequestId): string {
  try {
    return JSON.stringify(normalizeMessage(JSON.parse(text), pending));
  } catch {
    return text;
  }
}

/** Returns the id of a message, if it is a request. */
export function getRequestId(message: unknown): RequestId | undefined {
  if (!isObject(message) || typeof message["method"] !== "string") return undefined;
  const { id } = message;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** Returns the id of the request that a message cancels. */
export function getCancelledId(message: unknown): RequestId | undefined {
  if (!isObject(message) || message["method"] !== "notifications/cancelled") return undefined;
  const params = message["params"];
  const id = isObject(params) ? params["requestId"] : undefined;
  return typeof id === "string" || typeof id === "number" ? id : undefined;
}

/** The result of `initialize` requires members that some servers omit. */
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
