import type { Database } from "../database/open.ts";
import type { VectorEngine } from "../types.ts";

/** Loads the extension if it is installed. Otherwise vectors are compared in JavaScript, with the same results. */
export async function loadSqliteVec(): Promise<(database: Database) => VectorEngine> {
  const extension = await import("sqlite-vec").catch(() => undefined);
  return ({ raw }) => {
    try {
      if (extension === undefined) return "float32";
      extension.load(raw);
      return "sqlite-vec";
    } catch {
      // The extension is built for another platform.
      return "float32";
    }
  };
}
