import { expect, it } from "vitest";
import { memoryKeyValues } from "../../test/key-values.ts";
import { createLabelStore } from "../index.ts";
import type { FileLabel, OpenCommand } from "../labels/label.ts";

it("stores labels and commands, and treats an unreadable label as untrusted content", async () => {
  const kv = memoryKeyValues();
  const store = createLabelStore(kv);
  const labels: FileLabel[] = [
    { path: "/w/a", kind: "entry", source: "web" },
    { path: "/w/b", kind: "tree", source: "person", by: "feishu:ou_1" },
  ];
  const command: OpenCommand = { id: "1", folder: "/w", since: "17", author: { source: "file" } };
  await store.put(labels);
  await store.begin(command);
  expect(await store.load()).toEqual({ labels, commands: [command] });
  await store.remove(["/w/a"]);
  await store.end("1");
  await kv.set("file-labels", "/w/c", "damaged");
  expect(await store.load()).toEqual({
    labels: [labels[1], { path: "/w/c", kind: "tree", source: "other" }],
    commands: [],
  });
});
