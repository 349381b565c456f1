import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { toFolderName } from "@signalbox/tools";
import Sqlite from "better-sqlite3";
import { expect, it } from "vitest";
import { createHermesSource } from "./hermes-source.ts";
import { hashesOf, NOW, type Ran, run, stateOf, temporaryFolder, whyOf } from "./import-run.ts";
import { createNanobotSource } from "./nanobot-source.ts";
import { said } from "./openclaw-fixture.ts";
import { createOpenclawSource, DIRECT } from "./openclaw-source.ts";

const KEY = "agent:main:telegram:direct:5001";

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Returns the texts of the people's messages of the direct conversation. */
async function textsOf({ store }: Ran): Promise<string> {
  const history = await store.sessions.history(KEY);
  return history
    .map(({ message }) => message as { role: string; content: unknown })
    .flatMap(({ role, content }) => (role === "user" ? [String(content)] : []))
    .join("\n");
}

/** Returns the contents of the attachments of the direct conversation. */
function contentsOf({ home }: Ran): readonly string[] {
  const folder = join(home, "workspaces/main/inbox", toFolderName(KEY));
  return existsSync(folder)
    ? readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"))
    : [];
}

/** A home of OpenClaw with one message that has the attachments. */
function createOpenclawWith(media: readonly object[]): string {
  const { message, ...event } = said("a1", "look", NOW) as { message: { __openclaw: object } };
  const withMedia = { ...event, message: { ...message, __openclaw: { ...message.__openclaw, media } } };
  return createOpenclawSource({
    sessions: { main: [{ ...DIRECT, windows: [{ id: "w", createdAt: NOW, events: [withMedia] }] }] },
  });
}

it("imports attachments of OpenClaw with their conversation, also of a home that was moved", async () => {
  const dir = createOpenclawWith([
    { path: "/home/ann/.openclaw/media/inbound/photo.jpg", contentType: "image/jpeg", kind: "image" },
    { path: "/home/ann/.openclaw/media/inbound/gone.pdf", contentType: "application/pdf", kind: "document" },
  ]);
  write(join(dir, "media/inbound/photo.jpg"), "a photo");
  const before = hashesOf(dir);
  const plan = await run(dir, { apply: false });
  expect(contentsOf(plan)).toEqual([]);
  const ran = await run(dir);
  expect(await textsOf(ran)).toMatch(
    /look\n\[image, image\/jpeg, inbox\/[0-9a-f]{16}\/[0-9a-f]{16}\.jpg\]\n\[attachment: file, not kept\]$/,
  );
  expect(contentsOf(ran)).toEqual(["a photo"]);
  expect(stateOf(ran.report, DIRECT.key)).toBe("changed");
  expect(whyOf(ran.report, DIRECT.key)).toContain("only named");
  expect(hashesOf(dir)).toEqual(before);
  const again = await run(dir, {}, { home: ran.home });
  expect(stateOf(again.report, DIRECT.key)).toBe("skipped");
});

it("imports no attachment that is outside of the home, a link, or a file with secrets", async () => {
  const outside = join(temporaryFolder(), "private.txt");
  write(outside, "private");
  const dir = createOpenclawWith([
    { path: outside },
    { path: "../openclaw.json" },
    { path: "/home/ann/.openclaw/openclaw.json" },
    { path: "/home/ann/.openclaw/media/inbound/linked.txt" },
  ]);
  mkdirSync(join(dir, "media/inbound"), { recursive: true });
  symlinkSync(outside, join(dir, "media/inbound/linked.txt"));
  const ran = await run(dir);
  expect(contentsOf(ran)).toEqual([]);
  expect((await textsOf(ran)).match(/not kept/g)).toHaveLength(4);
});

it("imports a conversation whose attachments have paths that no file can have", async () => {
  const dir = createOpenclawWith([
    { path: `data:image/png;base64,${"A".repeat(5_000)}` },
    { path: `/media/${"a".repeat(300)}` },
    { path: "/media/a\0b" },
  ]);
  const ran = await run(dir);
  expect((await textsOf(ran)).match(/not kept/g)).toHaveLength(3);
});

it("imports attachments of nanobot and Hermes with their conversations", async () => {
  const nanobot = createNanobotSource();
  write(join(nanobot, "media/telegram/photo.png"), "a photo");
  const session = join(nanobot, "sessions/ws", `${Buffer.from("telegram:5001").toString("base64url")}.jsonl`);
  const line = { role: "user", content: "look", timestamp: new Date(NOW).toISOString() };
  writeFileSync(
    session,
    `${readFileSync(session, "utf8")}\n${JSON.stringify({ ...line, media: [join(nanobot, "media/telegram/photo.png")] })}`,
  );
  const ofNanobot = await run(nanobot, { system: "nanobot", owners: ["telegram:5001"] });
  expect(await textsOf(ofNanobot)).toMatch(/look\n\[image, .*inbox\//);
  expect(contentsOf(ofNanobot)).toEqual(["a photo"]);

  const hermes = createHermesSource();
  write(join(hermes, "cache/documents/doc_1_a.pdf"), "a document");
  const text =
    "[The user sent a document: 'a.pdf'. It is saved at: /root/.hermes/cache/documents/doc_1_a.pdf. Its text is not inlined here.]\n\nsum it up";
  const db = new Sqlite(join(hermes, "state.db"));
  db.prepare("INSERT INTO messages VALUES (NULL, 's2', 'user', ?, NULL, NULL, NULL, ?, 0, 1)").run(
    text,
    NOW / 1_000,
  );
  db.close();
  const ofHermes = await run(hermes, { system: "hermes", owners: ["telegram:5001"] });
  expect(await textsOf(ofHermes)).toMatch(/sum it up\n\[file, application\/octet-stream, inbox\//);
  expect(contentsOf(ofHermes)).toEqual(["a document"]);
});
