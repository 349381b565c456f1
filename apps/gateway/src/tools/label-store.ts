import type { JsonValue, KvStore } from "@signalbox/store";
import type { FileLabel, LabelStore, OpenCommand } from "@signalbox/tools";
import { z } from "zod";

const LABELS = "file-labels";
const COMMANDS = "labelled-commands";

const author = {
  source: z.enum(["web", "quote", "forward", "history", "file", "mcp", "log", "person", "other"]),
  by: z.string().exactOptional(),
};
const labelSchema = z.object({ ...author, path: z.string(), kind: z.enum(["entry", "tree"]) });
const commandSchema = z.object({
  id: z.string(),
  folder: z.string(),
  since: z.string(),
  author: z.object(author),
});

/** Keeps in the store which files hold what others wrote. */
export function createLabelStore(kv: KvStore): LabelStore {
  const rows = async <T>(namespace: string, schema: z.ZodType<T>): Promise<T[]> =>
    (await kv.list(namespace)).map(({ value }) => schema.parse(value));
  return {
    load: async () => ({
      labels: await rows<FileLabel>(LABELS, labelSchema),
      commands: await rows<OpenCommand>(COMMANDS, commandSchema),
    }),
    // Side by side, so that they share a commit.
    put: async (labels) =>
      void (await Promise.all(labels.map((label) => kv.set(LABELS, label.path, rowOf(label))))),
    remove: async (paths) => void (await Promise.all(paths.map((path) => kv.delete(LABELS, path)))),
    begin: ({ id, folder, since, author: by }) =>
      kv.set(COMMANDS, id, { id, folder, since, author: { ...by } }),
    end: async (id) => void (await kv.delete(COMMANDS, id)),
  };
}

function rowOf(label: FileLabel): JsonValue {
  return { ...label };
}
