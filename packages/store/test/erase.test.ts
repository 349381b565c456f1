import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commitQueue } from "../src/commit-queue.ts";
import { connect } from "../src/connection.ts";
import { wrapDatabase } from "../src/database.ts";
import { createEraser } from "../src/erase.ts";
import { seed, takeLease, temporaryFolder, testStore } from "./support.ts";

const CODE = "The alarm code of the office is 7730.";

const said = (text: string) => ({ role: "user", content: text });

test("erases a text from the file", async () => {
  const path = join(temporaryFolder(), "store.db");
  const { store } = await testStore({ path });
  await store.sessions.ensure(seed("a"));
  await store.sessions.append("a", [said(CODE)], await takeLease(store));
  await store.maintenance.erase({ sessions: ["a"], messages: [], texts: [CODE] });
  const files = ["", "-wal"].map((end) => readFileSync(`${path}${end}`));
  expect(files.some((content) => content.includes("7730"))).toBe(false);
});

test("concurrent erasures run one after the other and share the cleaning of the file", async () => {
  const raw = connect(":memory:", "own");
  const settings = new Set<unknown>();
  const database = wrapDatabase(raw, () => settings.add(raw.pragma("secure_delete", { simple: true })));
  const context = {
    database,
    queue: commitQueue({ database, spacingMs: 0 }),
    now: Date.now,
    nonce: () => 0,
  };
  const cleaning = Promise.withResolvers<void>();
  const counts = { cleaned: 0, atOnce: 0, most: 0 };
  const erase = createEraser(context, {
    beforeErase: async () => {},
    async cleanFile() {
      counts.cleaned += 1;
      counts.atOnce += 1;
      counts.most = Math.max(counts.most, counts.atOnce);
      await cleaning.promise;
      counts.atOnce -= 1;
    },
  });
  const insert = raw.prepare("INSERT INTO entry (kind, session_key, at, body) VALUES ('message', 'a', 0, ?)");
  // The first erasure ends long before the last one.
  const texts = [1, 50, 100, 200, 400].map((rows, n) => ({ rows, text: `The code of door ${n} is 7730.` }));
  for (const { rows, text } of texts)
    for (let row = 0; row < rows; row += 1) insert.run(JSON.stringify(said(text)));
  const left = raw.prepare("SELECT count(*) FROM entry WHERE body LIKE '%7730%'").pluck();

  const erasures = texts.map(({ text }) => erase({ sessions: ["a"], messages: [], texts: [text] }));
  await expect.poll(() => left.get()).toBe(0);
  // The erasures ask for a cleaning in later turns of the event loop, which take long on a busy machine.
  for (let turn = 0; turn < 100; turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  cleaning.resolve();
  expect(await Promise.all(erasures)).toEqual(texts.map(({ rows }) => rows));
  expect(settings).toEqual(new Set([1]));
  expect(counts).toEqual({ cleaned: 2, atOnce: 0, most: 1 });
});
