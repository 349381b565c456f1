import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileMessage, textMessage } from "@signalbox/testkit/feishu";
import type { Excess, Target } from "./loop.ts";

const MB = 1_048_576;
const SENDER = { senderId: "ou_owner", chatId: "oc_loop" };
const WORKSPACE_FILES = ["AGENTS.md", "SOUL.md", "MEMORY.md", "USER.md", "TOOLS.md", "HEARTBEAT.md"];
let messages = 0;

async function say(target: Target, text: string, more: object = {}): Promise<void> {
  messages += 1;
  const event = textMessage(text, { ...SENDER, messageId: `om_${messages}`, ...more });
  await target.feishu.postEvent(`${target.url}/channels/feishu/main/events`, event);
  await target.settled();
}

const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });

/** Each call in a turn of its own. */
async function runTools(
  target: Target,
  calls: readonly { toolCalls: readonly { name: string; input: object }[] }[],
) {
  target.script([...calls, { text: "Done." }]);
  await say(target, "go on");
}

async function post(target: Target, path: string, body: string, headers: object = {}): Promise<void> {
  const response = await fetch(target.url + path, {
    method: "POST",
    body,
    headers: { "content-type": "application/json", authorization: `Bearer ${target.token}`, ...headers },
  });
  await response.arrayBuffer();
}

async function complete(target: Target, messages: readonly object[], more: object = {}): Promise<void> {
  const body = JSON.stringify({ model: "main", messages, ...more });
  await post(target, "/v1/chat/completions", body);
}

async function get(target: Target, path: string): Promise<void> {
  const response = await fetch(target.url + path, { headers: { authorization: `Bearer ${target.token}` } });
  await response.arrayBuffer();
}

export const EXCESSES: readonly Excess[] = [
  { name: "a plain message", work: (target) => say(target, "hello") },
  {
    name: "a plain call of each tool",
    work: async (target, round) => {
      writeFileSync(join(target.workspace, "small.txt"), `small ${round}\n`);
      await runTools(target, [
        call("read", { file_path: "small.txt" }),
        call("edit", { file_path: "small.txt", old_string: "small", new_string: "little" }),
        call("grep", { pattern: "little" }),
        call("find", { pattern: "*.txt" }),
        call("ls", {}),
        call("exec", { command: "echo hi" }),
      ]);
    },
  },
  {
    name: "10,000 folders of skills",
    work: async (target) => {
      for (let kit = 0; kit < 100; kit++)
        for (let n = 0; n < 100; n++) {
          const dir = join(target.workspace, "skills", `kit-${kit}`, `skill-${n}`);
          mkdirSync(dir, { recursive: true });
          writeFileSync(
            join(dir, "SKILL.md"),
            `---\nname: s-${kit}-${n}\ndescription: Does ${n}.\n---\nWords.\n`,
          );
        }
      await say(target, "hello");
      rmSync(join(target.workspace, "skills"), { recursive: true });
    },
  },
  {
    name: "a skill of 20 MB, and one with 100,000 fields",
    work: async (target) => {
      const fields = Array.from({ length: 100_000 }, (_, n) => `f${n}: [a, {b: c}]`).join("\n");
      for (const [name, text] of [
        ["large", `---\nname: large\ndescription: Large.\n---\n${"words ".repeat(3 * MB)}`],
        ["fields", `---\nname: fields\ndescription: Many.\n${fields}\n---\nWords.\n`],
        [
          "anchors",
          `---\nname: anchors\ndescription: x\na: &a [x,x,x,x,x,x,x,x,x]\n${Array.from(
            { length: 9 },
            (_, n) =>
              `a${n}: &a${n} [${Array(9)
                .fill(n === 0 ? "*a" : `*a${n - 1}`)
                .join(",")}]`,
          ).join("\n")}\n---\nx`,
        ],
        ["deep", `---\nname: deep\ndescription: x\na: ${"[".repeat(50_000)}\n---\nx`],
      ] as const) {
        mkdirSync(join(target.workspace, "skills", name), { recursive: true });
        writeFileSync(join(target.workspace, "skills", name, "SKILL.md"), text);
      }
      await say(target, "hello");
      rmSync(join(target.workspace, "skills"), { recursive: true });
    },
  },
  {
    name: "files of the workspace of 20 MB each",
    work: async (target) => {
      mkdirSync(join(target.workspace, "memory"), { recursive: true });
      for (const name of [...WORKSPACE_FILES, "memory/2026-01-01.md"])
        writeFileSync(join(target.workspace, name), `# Title\n\n${"words of mine ".repeat(1.5 * MB)}`);
      await say(target, "hello");
      for (const name of [...WORKSPACE_FILES, "memory"])
        rmSync(join(target.workspace, name), { recursive: true });
      await say(target, "hello");
    },
  },
  {
    name: "a file of 50 MB, read, searched and changed",
    work: async (target) => {
      const line = "a line of sixty-three characters, of which there are very many.\n";
      writeFileSync(join(target.workspace, "large.txt"), line.repeat((50 * MB) / 64));
      writeFileSync(join(target.workspace, "line.txt"), "x".repeat(50 * MB));
      writeFileSync(join(target.workspace, "medium.txt"), line.repeat((1.8 * MB) / 64));
      await runTools(target, [
        call("read", { file_path: "large.txt" }),
        call("read", { file_path: "large.txt", offset: 700_000 }),
        call("read", { file_path: "line.txt" }),
        call("grep", { pattern: "(a|b|ab)*c\\d" }),
        call("edit", { file_path: "large.txt", old_string: "nothing of it", new_string: "x" }),
        call("edit", {
          file_path: "medium.txt",
          old_string: "a line of sixty-three characters, of which there is",
          new_string: "x",
        }),
        call("edit", { file_path: "medium.txt", old_string: "line", new_string: "word", replace_all: true }),
      ]);
      for (const name of ["large.txt", "line.txt", "medium.txt"]) rmSync(join(target.workspace, name));
    },
  },
  {
    name: "a hundred changes of a file of 1.8 MB, and a patch in 500 places",
    work: async (target) => {
      const lines = Array.from(
        { length: 28_000 },
        (_, at) => `a line of sixty-three characters or so, number ${at}`,
      );
      const put = (name: string): void => writeFileSync(join(target.workspace, name), lines.join("\n"));
      const edits = Array.from({ length: 100 }, (_, at) => ({
        old_string: `number ${at}\n`,
        new_string: "x\n",
      }));
      const changes = Array.from({ length: 500 }, (_, at) => `@@\n-${lines[at * 50]}\n+x`);
      put("edited.txt");
      put("patched.txt");
      await runTools(target, [
        call("edit", { file_path: "edited.txt", edits }),
        call("edit", {
          file_path: "edited.txt",
          old_string: "a line of sixty-four characters",
          new_string: "x",
        }),
        call("apply_patch", {
          patch: `*** Begin Patch\n*** Update File: patched.txt\n${changes.join("\n")}\n*** End Patch`,
        }),
      ]);
      for (const name of ["edited.txt", "patched.txt"]) rmSync(join(target.workspace, name));
    },
  },
  {
    name: "50,000 files, listed, found, and looked at after a command",
    work: async (target) => {
      for (let n = 0; n < 50_000; n++) {
        const dir = join(target.workspace, "many", `d${n % 50}`);
        if (n < 50) mkdirSync(dir, { recursive: true });
        writeFileSync(join(dir, `f${n}`), "");
      }
      const flat = join(target.workspace, "flat");
      mkdirSync(flat, { recursive: true });
      for (let n = 0; n < 30_000; n++) writeFileSync(join(flat, `f${n}`), "");
      await runTools(target, [
        call("ls", { path: "flat" }),
        call("find", { pattern: "**/f1*" }),
        call("grep", { pattern: "x" }),
        call("exec", { command: "true" }),
      ]);
      rmSync(join(target.workspace, "many"), { recursive: true });
      rmSync(flat, { recursive: true });
    },
  },
  {
    name: "an output of 5 MB",
    isSent: true,
    work: (target) =>
      runTools(target, [call("exec", { command: "head -c 5000000 /dev/zero | tr '\\0' 'x'; seq 1 200000" })]),
  },
  {
    name: "rows of 1 MB in the store",
    work: async (target) => {
      await say(target, "hello", { chatId: "oc_rows" });
      const database = new DatabaseSync(join(target.home, "signalbox.db"));
      database.exec("PRAGMA busy_timeout = 5000");
      database
        .prepare(
          "UPDATE entry SET body = replace(body, 'hello', ?) WHERE id = (SELECT max(id) FROM entry WHERE kind = 'message' AND body LIKE '%hello%')",
        )
        .run("hello".repeat(MB / 5));
      database.close();
      await get(target, "/api/conversations");
      await say(target, "again", { chatId: "oc_rows" });
      await say(target, "/new", { chatId: "oc_rows" });
    },
  },
  {
    name: "a vendor's error of 1 MB",
    isSent: true,
    work: async (target) => {
      target.script([{ error: { status: 400, message: "-----BEGIN RSA PRIVATE KEY-----".repeat(33_000) } }]);
      await say(target, "hello");
    },
  },
  {
    name: "arguments of a call of 1 MB",
    isSent: true,
    work: (target) =>
      runTools(target, [
        { toolCalls: [{ name: "write", input: { file_path: "w.txt", content: "line\n".repeat(200_000) } }] },
      ]),
  },
  {
    name: "a command of 40,000 characters",
    isSent: true,
    work: (target) =>
      runTools(target, [
        call("exec", { command: `echo ${"$(".repeat(5_000)}` }),
        call("exec", { command: `: ${"a=b; ".repeat(7_000)}` }),
        call("exec", { command: `: ${"{a,".repeat(9_000)}` }),
      ]),
  },
  {
    name: "an attachment of 30 MB",
    isSent: true,
    work: async (target, round) => {
      const id = `om_file_${round}`;
      target.feishu.addResource(
        id,
        `file_${round}`,
        Buffer.alloc(29 * MB, `some text, in which nothing is said ${round}\n`),
        {
          mimeType: "text/plain",
        },
      );
      const event = fileMessage(`file_${round}`, "large.txt", { ...SENDER, messageId: id });
      await target.feishu.postEvent(`${target.url}/channels/feishu/main/events`, event);
      await target.settled();
      await say(target, "/new");
    },
  },
  {
    name: "a conversation of 5,000 messages",
    isSent: true,
    work: async (target) => {
      const messages = Array.from({ length: 5_000 }, (_, at) => ({
        role: at % 2 === 0 ? "user" : "assistant",
        content: `Message ${at}: what was said there, in so many words.`,
      }));
      await complete(target, [...messages, { role: "user", content: "go on" }]);
    },
  },
  {
    name: "a request to /v1 of 10 MB that holds a picture",
    isSent: true,
    work: (target) => {
      const url = `data:image/png;base64,${"A".repeat(9 * MB)}`;
      return complete(target, [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }]);
    },
  },
  {
    name: "a request to /v1 of 10 MB that holds a picture of an earlier message",
    isSent: true,
    work: (target) => {
      const url = `data:image/png;base64,${"A".repeat(9 * MB)}`;
      return complete(target, [
        { role: "user", content: [{ type: "image_url", image_url: { url } }] },
        { role: "assistant", content: "A picture." },
        { role: "user", content: "go on" },
      ]);
    },
  },
  {
    name: "a request to /v1 of 10 MB that holds words",
    isSent: true,
    work: (target) => complete(target, [{ role: "user", content: "words ".repeat(1.6 * MB) }]),
  },
  {
    name: "a request to /v1 of 200,000 messages",
    isSent: true,
    work: (target) =>
      complete(
        target,
        Array.from({ length: 200_000 }, () => ({ role: "user", content: "hello" })),
      ),
  },
  {
    name: "a request to /v1 of 1 MB: parts of a message, and fields that nobody reads",
    isSent: true,
    work: async (target) => {
      const part = { type: "text", text: "a" };
      await complete(target, [{ role: "user", content: Array.from({ length: 35_000 }, () => part) }]);
      const metadata = Object.fromEntries(Array.from({ length: 60_000 }, (_, n) => [`k${n}`, n]));
      await complete(target, [{ role: "user", content: "hello" }], { metadata });
      await target.settled();
    },
  },
  {
    name: "an answer of 100,000 characters",
    isSent: true,
    work: async (target) => {
      target.script([
        { text: "- an *item* of a list with `code` and [a link](https://example.org)\n".repeat(1_500) },
      ]);
      await say(target, "hello");
      target.script([
        {
          text: `${"*Words* of a [paragraph](https://example.org), `code` too. ".repeat(20)}\n\n`.repeat(80),
        },
      ]);
      await say(target, "hello");
    },
  },
  {
    name: "a message of 900 KB",
    isSent: true,
    work: async (target) => {
      await say(
        target,
        "[[".repeat(100_000) +
          "<at user_id=".repeat(20_000) +
          "https://a.b/".repeat(20_000) +
          "\n> ".repeat(50_000),
      );
      await say(target, "/new");
    },
  },
  {
    name: "bodies of webhooks of 1 MB",
    isSent: true,
    work: async (target) => {
      const deep = "[".repeat(500_000) + "]".repeat(500_000);
      const many = JSON.stringify(Array.from({ length: 100_000 }, (_, n) => ({ n }))).slice(0, 1_000_000);
      const keys = `{${Array.from({ length: 60_000 }, (_, n) => `"k${n}":${n}`).join(",")}}`;
      for (const body of [deep, many, keys])
        for (const path of ["/channels/feishu/main/events", "/hooks/build"])
          await post(
            target,
            path,
            body,
            path.startsWith("/hooks") ? { authorization: `Bearer ${target.hook}` } : {},
          );
      await target.settled();
    },
  },
];
