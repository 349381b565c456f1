import { randomUUID } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { reasonOf } from "@signalbox/agent-core";
import { GatewayError } from "./errors.ts";
import type { Home } from "./layout.ts";
import { textIfThere } from "./readable.ts";

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Returns the id of the gateway on this home: a UUID that is created at the first start. It stays the same if the home
 * is moved, and differs between homes at the same path on two machines. Backups do not contain it. Call this while
 * holding the home's lock.
 *
 * @throws GatewayError if the file cannot be read or created
 */
export function getNodeId({ nodeFile }: Home): string {
  const stored = textIfThere(nodeFile)?.trim();
  // A power failure can leave an empty file.
  if (stored !== undefined && UUID.test(stored)) return stored;
  const id = randomUUID();
  const part = `${nodeFile}.part`;
  try {
    writeFileSync(part, `${id}\n`, { mode: 0o600, flush: true });
    renameSync(part, nodeFile);
  } catch (error) {
    throw new GatewayError("cannot_write", `${nodeFile} cannot be written: ${reasonOf(error)}.`, {
      cause: error,
    });
  }
  return id;
}
