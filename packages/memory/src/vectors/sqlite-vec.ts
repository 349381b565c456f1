import type { Database } from "../database/open.ts";
import type { VectorEngine } from "../types.ts";

/** Loads the extension where it is installed; elsewhere vectors are compared here, with the same results. */
export async function loadSqliteVec(): Promise<(database: Database) => VectorEngine> {
  const extension = await import("sqlite-vec").catch(() => undefined);
  return ({ raw }) => {
    try {
      if (extension === undefined) return "float32";
      extension.load(raw);
      return "sqlite-vec";
    } catch {
      // Built for another system.
      return "float32";
    }
  };
}
