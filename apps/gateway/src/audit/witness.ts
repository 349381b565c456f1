import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import type { AuditHead } from "@signalbox/audit";
import { z } from "zod";

/** The end of the audit chain, outside of the database: a tail that is cut off there is missed here. */
export interface Witness {
  /** Undefined where none was noted yet. @throws where the file cannot be read */
  read(): AuditHead | undefined;
  write(head: AuditHead): void;
}

const HEAD = z.object({ count: z.int().nonnegative(), hash: z.string() });

/** A witness in a file of the home. */
export function fileWitness(path: string): Witness {
  return {
    read: () => (existsSync(path) ? HEAD.parse(JSON.parse(readFileSync(path, "utf8"))) : undefined),
    write({ count, hash }) {
      const part = `${path}.part`;
      writeFileSync(part, `${JSON.stringify({ count, hash })}\n`, { mode: 0o600 });
      renameSync(part, path);
    },
  };
}
