import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { AuditHead } from "./chain.ts";

/** The end of a chain, noted outside of where it is kept: a tail that is cut off there is missed here. */
export interface Witness {
  /** Undefined where none was noted yet. @throws where the file cannot be read */
  read(): AuditHead | undefined;
  write(head: AuditHead): void;
}

/** A witness in a file. */
export function fileWitness(path: string): Witness {
  return {
    read: () => (existsSync(path) ? headOf(JSON.parse(readFileSync(path, "utf8"))) : undefined),
    write({ count, hash }) {
      const part = `${path}.part`;
      // Synced: where the power fails, an empty file would say that the chain is not as it was noted.
      writeFileSync(part, `${JSON.stringify({ count, hash })}\n`, { mode: 0o600, flush: true });
      renameSync(part, path);
    },
  };
}

function headOf(value: unknown): AuditHead {
  const { count, hash } = Object(value);
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0 && typeof hash === "string")
    return { count, hash };
  throw new Error("it holds no end of a chain");
}
