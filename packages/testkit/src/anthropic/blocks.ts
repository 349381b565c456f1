import { createHmac, timingSafeEqual } from "node:crypto";

export type Fields = Readonly<Record<string, unknown>>;

const SECRET = "fake-server";
const ID = /^[a-zA-Z0-9_-]+$/;
/** Allowed tool names. */
export const TOOL_NAME: RegExp = /^[a-zA-Z0-9_-]{1,128}$/;
const IMAGE_TYPES = ["image/jpeg", "image/png", "image/gif", "image/webp"];

const BLOCK_KEYS: Readonly<Record<string, readonly string[]>> = {
  text: ["text", "citations"],
  image: ["source"],
  document: ["source", "title", "context", "citations"],
  tool_use: ["id", "name", "input", "caller"],
  tool_result: ["tool_use_id", "content", "is_error"],
  thinking: ["thinking", "signature"],
  redacted_thinking: ["data"],
  server_tool_use: ["id", "name", "input", "caller"],
};

export function fields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : undefined;
}

/** Returns the fake server's signature of thinking, with which it detects changed blocks that a client returns. */
export function signThinking(text: string): string {
  return createHmac("sha256", SECRET).update(text).digest("base64");
}

function signatureHolds(text: string, signature: string): boolean {
  const wanted = Buffer.from(signThinking(text));
  const given = Buffer.from(signature);
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

/** An error in a request, in the vendor's words. */
export class Invalid extends Error {}

export function refuse(message: string): never {
  throw new Invalid(message);
}

/** State while a request is checked. */
export interface Check {
  cacheControls: number;
  readonly thinking: boolean;
  readonly trustThinking: boolean;
  readonly toolIds: Set<string>;
}

export function checkCacheControl(block: Fields, path: string, check: Check): void {
  const control = block.cache_control;
  if (control === undefined || control === null) return;
  const value = fields(control);
  if (value?.type !== "ephemeral") refuse(`${path}.cache_control.type: Input should be 'ephemeral'`);
  if (value.ttl !== undefined && value.ttl !== "5m" && value.ttl !== "1h")
    refuse(`${path}.cache_control.ttl: Input should be '5m' or '1h'`);
  if (block.type === "thinking" || block.type === "redacted_thinking")
    refuse(`${path}.${String(block.type)}.cache_control: Extra inputs are not permitted`);
  check.cacheControls++;
}

function checkSource(block: Fields, path: string): void {
  const source = fields(block.source) ?? refuse(`${path}.source: Field required`);
  const kind = source.type;
  if (kind === "base64") {
    if (typeof source.data !== "string" || source.data === "")
      refuse(`${path}.source.base64.data: Field required`);
    if (!/^[A-Za-z0-9+/]+={0,2}$/.test(source.data)) refuse(`${path}.source.base64: Invalid base64 data`);
    if (block.type === "image" && !IMAGE_TYPES.includes(String(source.media_type)))
      refuse(
        `${path}.image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'`,
      );
    if (block.type === "document" && source.media_type !== "application/pdf")
      refuse(`${path}.document.source.base64.media_type: Input should be 'application/pdf'`);
  } else if (kind === "text" && block.type === "document") {
    if (source.media_type !== "text/plain")
      refuse(`${path}.document.source.text.media_type: Input should be 'text/plain'`);
    if (typeof source.data !== "string") refuse(`${path}.document.source.text.data: Field required`);
  } else if (kind === "url") {
    if (typeof source.url !== "string" || !/^https?:/.test(source.url))
      refuse(`${path}.source.url.url: Only HTTP(S) URLs are supported`);
  } else {
    refuse(
      `${path}.source: Input tag '${String(kind)}' found using 'type' does not match any of the expected tags`,
    );
  }
}

export function checkText(text: unknown, path: string): void {
  if (typeof text !== "string") refuse(`${path}.text: Field required`);
  if (text === "") refuse(`${path}: text content blocks must be non-empty`);
  if (text.trim() === "") refuse(`${path}: text content blocks must contain non-whitespace text`);
}

export function checkBlock(value: unknown, role: unknown, path: string, check: Check): Fields {
  const block = fields(value) ?? refuse(`${path}: Input should be an object`);
  const type = String(block.type);
  const keys = Object.hasOwn(BLOCK_KEYS, type) ? BLOCK_KEYS[type] : undefined;
  if (keys === undefined) {
    if (type.endsWith("_tool_result") || type === "container_upload") return block;
    refuse(`${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`);
  }
  for (const key of Object.keys(block))
    if (key !== "type" && key !== "cache_control" && !keys.includes(key))
      refuse(`${path}.${type}.${key}: Extra inputs are not permitted`);
  checkCacheControl(block, path, check);
  switch (type) {
    case "text":
      checkText(block.text, path);
      break;
    case "image":
    case "document":
      if (role !== "user") refuse(`${path}: ${type} blocks are only permitted in user messages`);
      checkSource(block, path);
      break;
    case "tool_use":
      if (role !== "assistant") refuse(`${path}: \`tool_use\` blocks can only be in \`assistant\` messages`);
      if (typeof block.id !== "string" || !ID.test(block.id))
        refuse(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
      if (typeof block.name !== "string" || !TOOL_NAME.test(block.name))
        refuse(`${path}.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`);
      if (fields(block.input) === undefined) refuse(`${path}.tool_use.input: Input should be an object`);
      if (check.toolIds.has(block.id)) refuse(`${path}: \`tool_use\` ids must be unique`);
      check.toolIds.add(block.id);
      break;
    case "tool_result":
      if (role !== "user") refuse(`${path}: \`tool_result\` blocks can only be in \`user\` messages`);
      if (typeof block.tool_use_id !== "string") refuse(`${path}.tool_result.tool_use_id: Field required`);
      if (Array.isArray(block.content))
        block.content.forEach((inner: unknown, i) => {
          checkBlock(inner, "user", `${path}.tool_result.content.${i}`, check);
        });
      else if (block.content !== undefined && typeof block.content !== "string")
        refuse(`${path}.tool_result.content: Input should be a valid string or list`);
      break;
    case "thinking":
      if (role !== "assistant") refuse(`${path}: \`thinking\` blocks can only be in \`assistant\` messages`);
      if (typeof block.thinking !== "string") refuse(`${path}.thinking.thinking: Field required`);
      if (typeof block.signature !== "string") refuse(`${path}.thinking.signature: Field required`);
      if (!check.trustThinking && !signatureHolds(block.thinking, block.signature))
        refuse(`${path}: Invalid \`signature\` in \`thinking\` block`);
      break;
    default:
  }
  return block;
}
