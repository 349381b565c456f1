import type { JsonValue } from "@signalbox/agent-core";
import type { KvStore } from "@signalbox/store/types";
import { z } from "zod";
import type { FileLabel, LabelStore, OpenCommand } from "../labels/label.ts";
import { taintSourceSchema } from "../types.ts";

const LABELS = "file-labels";
const COMMANDS = "labelled-commands";

const author = {
  source: taintSourceSchema,
  by: z.string().optional(),
};
const labelSchema = z.object({ ...author, path: z.string(), kind: z.enum(["entry", "tree"]) });
const commandSchema = z.object({
  id: z.string(),
  folder: z.string(),
  since: z.string(),
  author: z.object(author),
});

/** Creates a label store on top of a key-value store. */
export function createLabelStore(kv: KvStore): LabelStore {
  return {
    load: async () => ({
      // If a row is unreadable, its file stays untrusted.
      labels: (await kv.list(LABELS)).map(({ key: path, value }): FileLabel => {
        return labelSchema.safeParse(value).data ?? { path, kind: "tree", source: "other" };
      }),
      commands: (await kv.list(COMMANDS)).flatMap(({ value }): OpenCommand[] => {
        const command = commandSchema.safeParse(value).data;
        return command === undefined ? [] : [command];
      }),
    }),
    // Write concurrently to share one commit.
    put: async (labels) =>
      void (await Promise.all(labels.map((label) => kv.set(LABELS, label.path, toJson(label))))),
    remove: async (paths) => void (await Promise.all(paths.map((path) => kv.delete(LABELS, path)))),
    begin: ({ id, folder, since, author: by }) =>
      kv.set(COMMANDS, id, { id, folder, since, author: { ...by } }),
    end: async (id) => void (await kv.delete(COMMANDS, id)),
  };
}

function toJson(label: FileLabel): JsonValue {
  return { ...label };
}
