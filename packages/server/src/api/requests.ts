import type { Context } from "hono";
import type * as z from "zod/mini";
import { ApiError } from "../api-error.ts";
import type { Env } from "../middleware.ts";

/**
 * Parses the JSON body of a request.
 *
 * @throws ApiError that names the first wrong field
 */
export async function readBody<T>(context: Context<Env>, schema: z.ZodMiniType<T>): Promise<T> {
  return parse(schema, await context.req.json().catch(() => undefined), "The request body is invalid.");
}

/**
 * Parses the query of a request.
 *
 * @throws ApiError that names the first wrong parameter
 */
export function readQuery<T>(context: Context<Env>, schema: z.ZodMiniType<T>): T {
  return parse(schema, context.req.query(), "The URL is invalid.");
}

/** Names the holder of the token for the audit log. */
export function getActor(context: Context<Env>): string {
  return `token ${context.get("access").principal.name}`;
}

function parse<T>(schema: z.ZodMiniType<T>, value: unknown, message: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue?.path.join(".") ?? "";
  const expected = issue?.message ?? "not valid";
  throw new ApiError("bad_request", message, {
    remedy:
      field === ""
        ? `Send a JSON object as the API's reference describes. (${expected})`
        : `Correct \`${field}\`: ${expected}.`,
  });
}
