import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { AuditHead } from "../types/audit.ts";

/** Stores the last known head of a chain outside the log, to detect truncation. */
export interface Witness {
  /**
   * Returns the stored head, if any.
   *
   * @throws if the head exists but cannot be read
   */
  read(): AuditHead | undefined;
  write(head: AuditHead): void;
}

/** Creates a witness that stores the head in a file with mode 0600. */
export function fileWitness(path: string): Witness {
  return {
    read: () => (existsSync(path) ? parseHead(JSON.parse(readFileSync(path, "utf8"))) : undefined),
    write({ count, hash }) {
      const part = `${path}.part`;
      // Sync before the rename. After a power failure, an empty file would look like a tampered chain.
      writeFileSync(part, `${JSON.stringify({ count, hash })}\n`, { mode: 0o600, flush: true });
      renameSync(part, path);
    },
  };
}

function parseHead(value: unknown): AuditHead {
  const { count, hash } = Object(value);
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0 && typeof hash === "string")
    return { count, hash };
  throw new Error("The file does not contain the head of an audit chain.");
}
