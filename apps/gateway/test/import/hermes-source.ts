import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { DAY, NOW, temporaryFolder } from "./import-run.ts";

export const HERMES_TOKEN: string = "5551234:AA-invented-bot-token";

/** Creates a home of Hermes with the usual content, and returns its folder. */
export function createHermesSource(
  configuration = "_config_version: 50\nmodel: { default: local/qwen, provider: local }\ncustom_providers: [{ name: local, base_url: 'http://127.0.0.1:9/v1', api_key: sk-invented-0123456789 }]\nagent: { max_turns: 60, reasoning_effort: none }\ndisplay: { busy_input_mode: queue }\ntimezone: Europe/Berlin\nvoice: { on: true }\n",
): string {
  const dir = join(temporaryFolder(), ".hermes");
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  write("config.yaml", configuration);
  write(
    ".env",
    `TELEGRAM_BOT_TOKEN=${HERMES_TOKEN}\nTELEGRAM_ALLOWED_USERS=5001,5002\nGATEWAY_ALLOW_ALL_USERS=true\nOTHER=1\n`,
  );
  write("SOUL.md", "kind\n");
  write("memories/MEMORY.md", "likes tea\n§\nlives in Bonn\n");
  write("memories/USER.md", "Ann\n");
  write("skills/food/tea/SKILL.md", "---\nname: tea\ndescription: d\n---\nx\n");
  write("skills/.bundled_manifest", "other:1\n");
  write("pairing/telegram-approved.json", JSON.stringify({ 5003: { user_name: "Cid" } }));
  write("auth.json", "{}");
  write(
    "cron/jobs.json",
    JSON.stringify([
      {
        id: "a",
        prompt: "news",
        skills: ["tea"],
        schedule: { kind: "cron", expr: "0 9 * * *" },
        deliver: "telegram:5001",
        enabled: true,
      },
      { id: "b", prompt: "x", script: "run.py", schedule: { kind: "interval", interval: 5 } },
    ]),
  );
  const db = new Sqlite(join(dir, "state.db"));
  db.exec(`CREATE TABLE sessions (id TEXT, source TEXT, user_id TEXT, session_key TEXT, chat_id TEXT, chat_type TEXT,
      thread_id TEXT, display_name TEXT, parent_session_id TEXT, started_at REAL, ended_at REAL, title TEXT);
    CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT,
      tool_calls TEXT, tool_name TEXT, timestamp REAL, observed INTEGER, active INTEGER);`);
  const addSession = db.prepare("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?, NULL, ?, ?, ?, NULL, ?)");
  const start = (NOW - 2 * DAY) / 1_000;
  addSession.run(
    "s1",
    "telegram",
    "5001",
    "agent:main:telegram:dm:5001",
    "5001",
    "dm",
    "Ann",
    null,
    start,
    "Tea",
  );
  addSession.run(
    "s2",
    "telegram",
    "5001",
    "agent:main:telegram:dm:5001",
    "5001",
    "dm",
    "Ann",
    "s1",
    start + 60,
    "Tea",
  );
  addSession.run(
    "g1",
    "telegram",
    "5001",
    "agent:main:telegram:group:-100",
    "-100",
    "group",
    "Team",
    null,
    start,
    null,
  );
  addSession.run("cli", "cli", null, null, null, null, null, null, start, null);
  const addMessage = db.prepare("INSERT INTO messages VALUES (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  addMessage.run("s1", "user", "hello", null, null, null, start, 0, 1);
  addMessage.run("s1", "assistant", "undone", null, null, null, start, 0, 0);
  addMessage.run("s1", "assistant", "hi", null, null, null, start + 1, 0, 1);
  addMessage.run("s2", "user", "fetch it", null, null, null, start + 60, 0, 1);
  addMessage.run(
    "s2",
    "assistant",
    null,
    null,
    JSON.stringify([{ id: "c", function: { name: "terminal", arguments: "{}" } }]),
    null,
    start + 61,
    0,
    1,
  );
  addMessage.run("s2", "tool", "out", "c", null, "terminal", start + 62, 0, 1);
  addMessage.run("s2", "assistant", "done", null, null, null, start + 63, 0, 1);
  addMessage.run("g1", "user", "aside", null, null, null, start, 1, 1);
  addMessage.run("g1", "user", "asked", null, null, null, start, 0, 1);
  db.close();
  return dir;
}

/** Number of items of each part in {@link createHermesSource}. */
export const HERMES_ITEMS: Readonly<Record<string, number>> = {
  // 11 values of config.yaml, 4 of .env, and auth.json.
  config: 16,
  // SOUL.md, MEMORY.md, USER.md, a skill, and the list of the skills that came with Hermes.
  files: 5,
  sessions: 4,
  schedules: 2,
  people: 1,
};
