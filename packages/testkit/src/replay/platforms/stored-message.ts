// For platforms that do not learn whether the gateway has stored a message.
import { setTimeout as delay } from "node:timers/promises";
import { isRaw, type Raw } from "../../raw.ts";
import type { GatewayAccess } from "./platform.ts";

/** Maximum time until the gateway listens or has stored a message. */
const WAIT_MS = 10_000;

/** Returns true if the gateway has stored a message with such an id. */
export async function hasMessage(
  { url, token }: GatewayAccess,
  matches: (messageId: string) => boolean,
): Promise<boolean> {
  const response = await fetch(`${url}/api/messages`, { headers: { authorization: `Bearer ${token}` } });
  const { messages }: Raw = Object(await response.json());
  const list: readonly unknown[] = Array.isArray(messages) ? messages : [];
  return list.some((one) => isRaw(one) && matches(String(one["messageId"])));
}

/** Waits until the condition is true. Returns false after ten seconds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<boolean> {
  const deadline = Date.now() + WAIT_MS;
  while (!(await holds())) {
    if (Date.now() > deadline) return false;
    await delay(10);
  }
  return true;
}
