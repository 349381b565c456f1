import type { AssistantMessage, Message, ToolSpec } from "@signalbox/agent-core";
import { describe, expect, it } from "vitest";
import { demo, demoModel } from "./provider.ts";
import { ownWords, understand } from "./understand.ts";

const tool = (name: string, ...properties: string[]): ToolSpec => ({
  name,
  description: name,
  inputSchema: {
    type: "object",
    properties: Object.fromEntries(properties.map((key) => [key, { type: "string" }])),
  },
});
const TOOLS = [
  tool("read", "file_path"),
  tool("write", "file_path", "content"),
  tool("ls", "path"),
  tool("exec", "command"),
];
const SKILLS = `<available_skills><skill><name>create-python-script</name><location>./skills/create-python-script/SKILL.md</location></skill></available_skills>`;

/** Runs the demo with a fake file system until it returns an answer. */
async function converse(words: string, files: Record<string, string>, tools = TOOLS, stable = "") {
  const stream = demo.connect({});
  const messages: Message[] = [{ role: "user", content: words, timestamp: 0 }];
  const calls: string[] = [];
  for (let turn = 0; turn < 8; turn++) {
    let message: AssistantMessage | undefined;
    let streamed = "";
    for await (const event of stream(demoModel, { system: { stable }, messages, tools })) {
      if (event.type === "text.delta") streamed += event.delta;
      if (event.type === "finish") message = event.message;
    }
    if (message === undefined) throw new Error("no answer");
    messages.push(message);
    const [block] = message.content;
    if (block?.type !== "toolCall") return { text: streamed, calls, files };
    const args = block.args ?? {};
    const path = String(args.file_path ?? args.path ?? args.text ?? "");
    calls.push(`${block.name} ${path || String(args.command)}`);
    let said = "";
    let isError = false;
    if (block.name === "read") {
      isError = files[path] === undefined;
      said = files[path] ?? "not found";
    } else if (block.name === "write") {
      files[path] = String(args.content);
      said = `Wrote ${path}`;
    } else {
      said = Object.keys(files).join("\n");
    }
    messages.push({
      role: "toolResult",
      toolCallId: block.id,
      toolName: block.name,
      content: [{ type: "text", text: said }],
      isError,
      timestamp: 0,
    });
  }
  throw new Error("did not come to an end");
}

describe("understand", () => {
  it.each([
    ["list files", { kind: "list", path: "." }],
    ["What files are in this directory?", { kind: "list", path: "." }],
    ["列出当前目录的文件", { kind: "list", path: "." }],
    ["read README.md", { kind: "read", path: "README.md" }],
    ["please show me the file docs/a.txt", { kind: "read", path: "docs/a.txt" }],
    ["读取 笔记.md", { kind: "read", path: "笔记.md" }],
    ["write notes.txt with hello world", { kind: "write", path: "notes.txt", content: "hello world" }],
    ['save "a, b" to list.csv', { kind: "write", path: "list.csv", content: "a, b" }],
    ["创建文件 notes.txt，内容是 你好", { kind: "write", path: "notes.txt", content: "你好" }],
    ["把 你好 写入 hello.txt", { kind: "write", path: "hello.txt", content: "你好" }],
    ["帮我写一个 Python 脚本，功能是遍历当前目录所有文件", { kind: "script", path: "list_files.py" }],
    ["create a python script named walk.py", { kind: "script", path: "walk.py" }],
    ["remember that tea is at four", { kind: "remember", fact: "tea is at four" }],
    ["记住：四点喝茶", { kind: "remember", fact: "四点喝茶" }],
    ["what do you remember?", { kind: "recall" }],
    ["你记得什么", { kind: "recall" }],
    ["run `uname -a`", { kind: "run", command: "uname -a" }],
    ["good morning", { kind: "help" }],
  ])("%s", (words, wish) => {
    expect(understand(words)).toEqual(wish);
  });

  it("removes the context that a gateway adds to a message", () => {
    expect(ownWords("## Inbound Context\n{}\n\n[message_id: om_1]\n张三: 列出文件")).toBe("列出文件");
    expect(ownWords(" list files ")).toBe("list files");
  });
});

describe("the demo model", () => {
  it("says in every answer that it is a demo", async () => {
    expect((await converse("good morning", {})).text).toMatch(/^\[offline demo/);
    expect((await converse("早上好", {})).text).toMatch(/^【离线演示模型/);
  });

  it("follows a skill from the prompt: reads it, lists files, writes and explains", async () => {
    const files = { "./skills/create-python-script/SKILL.md": "# steps" };
    const { calls, text } = await converse(
      "[message_id: om_1]\n张三: 帮我写一个 Python 脚本，功能是遍历当前目录所有文件",
      files,
      TOOLS,
      SKILLS,
    );
    expect(calls).toEqual(["read ./skills/create-python-script/SKILL.md", "ls .", "write list_files.py"]);
    expect(text).toContain("list_files.py");
    expect(files).toHaveProperty(["list_files.py"], expect.stringMatching(/^#!\/usr\/bin\/env python3/));
  });

  it("keeps its earlier notes", async () => {
    const files: Record<string, string> = {};
    await converse("remember that tea is at four", files);
    await converse("remember that cake is at five", files);
    expect(files["MEMORY.md"]).toBe("# Memory\n- tea is at four\n- cake is at five\n");
    expect((await converse("what do you remember?", files)).text).toContain("cake is at five");
  });

  it("writes notes to the host's memory if there is one", async () => {
    const withMemory = [...TOOLS, tool("memory_write", "text")];
    const { calls, text } = await converse("remember that tea is at four", {}, withMemory);
    expect(calls).toEqual(["memory_write tea is at four"]);
    expect(text).toContain("tea is at four");
    const files = { "memory/MEMORY.md": "- tea is at four" };
    expect((await converse("what do you remember?", files, withMemory)).text).toContain("tea is at four");
  });

  it("uses only offered tools and reports a failed call", async () => {
    expect((await converse("list files", {}, [])).text).toContain("not given");
    expect((await converse("read gone.txt", {})).text).toContain("did not succeed");
  });
});
