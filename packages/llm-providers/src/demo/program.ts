import {
  type JsonObject,
  type ModelContext,
  type ToolResultMessage,
  type ToolSpec,
  textOf,
} from "@signalbox/agent-core";
import { isChinese, ownWords, understand, type Wish } from "./understand.ts";

/** What the demo model says next: words, or one tool call. */
export type Move =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "call"; readonly name: string; readonly args: JsonObject };

const MEMORY_FILE = "MEMORY.md";

const SCRIPT = `#!/usr/bin/env python3
# -*- coding: utf-8 -*-
"""Print every file below the current directory, one relative path a line."""

from pathlib import Path

SKIP = {".git", "node_modules", "__pycache__"}


def walk(folder: Path):
    """Yield the files of a folder and of all folders in it, in a stable order."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            if entry.name not in SKIP:
                yield from walk(entry)
        else:
            yield entry


if __name__ == "__main__":
    for path in walk(Path(".")):
        print(path)
`;

const HELP_EN = `I can do a few things with the tools I am given, to show that the gateway works:
- "list files"
- "read README.md"
- "write notes.txt with hello"
- "write a Python script that walks the directory" (through the skill, where it is installed)
- "remember that tea is at four", then "what do you remember?"
- "run \`uname -a\`" (where commands are allowed)

Set a model key, for instance ANTHROPIC_API_KEY, and restart to talk to a real model.`;

const HELP_ZH = `我能用手头的工具做几件小事，好让你看到网关在工作：
- “列出文件”
- “读取 README.md”
- “创建 notes.txt，内容是 你好”
- “帮我写一个 Python 脚本，遍历当前目录所有文件”（装有该技能时按技能步骤做）
- “记住 四点喝茶”，然后问“你记得什么”
- “运行 \`uname -a\`”（允许执行命令时）

设置模型密钥（例如 ANTHROPIC_API_KEY）并重启，就能和真正的模型对话。`;

/** The tools on offer, found by what they are usually called. */
class Toolbox {
  readonly #tools: readonly ToolSpec[];
  constructor(tools: readonly ToolSpec[]) {
    this.#tools = tools;
  }

  /** A call of the first tool on offer; arguments go under the first property name its schema knows. */
  call(names: readonly string[], args: readonly (readonly [readonly string[], string])[]): Move | undefined {
    const tool = this.#tools.find((candidate) => names.includes(candidate.name));
    if (tool === undefined) return undefined;
    const properties = tool.inputSchema.properties;
    const parameters = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
    const given: Record<string, string> = {};
    for (const [candidates, value] of args) {
      const name = candidates.find((candidate) => parameters.includes(candidate)) ?? candidates[0];
      if (name !== undefined) given[name] = value;
    }
    return { kind: "call", name: tool.name, args: given };
  }

  read(path: string): Move | undefined {
    return this.call(["read", "read_file"], [[["file_path", "path", "file"], path]]);
  }

  list(path: string): Move | undefined {
    return this.call(["ls", "list_dir", "list_files"], [[["path", "directory", "dir"], path]]);
  }

  write(path: string, content: string): Move | undefined {
    return this.call(
      ["write", "write_file"],
      [
        [["file_path", "path", "file"], path],
        [["content", "text"], content],
      ],
    );
  }

  run(command: string): Move | undefined {
    return this.call(["exec", "bash", "shell"], [[["command", "cmd"], command]]);
  }
}

/** Where a skill's instructions are, from the catalogue in the system prompt. */
function skillLocation(context: ModelContext, name: RegExp): string | undefined {
  const prompt = `${context.system.stable}\n${context.system.volatile ?? ""}`;
  for (const [entry] of prompt.matchAll(/<skill>[\s\S]*?<\/skill>/g)) {
    const said = /<name>\s*([\s\S]*?)\s*<\/name>/.exec(entry)?.[1] ?? "";
    const location = /<location>\s*([\s\S]*?)\s*<\/location>/.exec(entry)?.[1];
    if (name.test(said) && location !== undefined) return location;
  }
  return undefined;
}

interface Scene {
  readonly tools: Toolbox;
  readonly zh: boolean;
  /** Results since the person last spoke, in order. */
  readonly results: readonly ToolResultMessage[];
}

function missing(scene: Scene, tool: string): Move {
  return {
    kind: "say",
    text: scene.zh
      ? `这件事需要工具 ${tool}，但它没有提供给我。`
      : `That takes the tool "${tool}", which I was not given.`,
  };
}

function failed(scene: Scene, result: ToolResultMessage): Move {
  const said = textOf(result.content, "\n").trim();
  return {
    kind: "say",
    text: scene.zh
      ? `工具 ${result.toolName} 没有成功：\n\n${said}`
      : `The tool "${result.toolName}" did not succeed:\n\n${said}`,
  };
}

/** One call, then its result in words. */
function once(scene: Scene, tool: string, call: Move | undefined, words: (said: string) => string): Move {
  const result = scene.results.at(-1);
  if (result === undefined) return call ?? missing(scene, tool);
  if (result.isError) return failed(scene, result);
  return { kind: "say", text: words(textOf(result.content, "\n").trim()) };
}

function script(scene: Scene, context: ModelContext, path: string): Move {
  const { tools, results, zh } = scene;
  const location = skillLocation(context, /python/i);
  const steps: { readonly tool: string; readonly move: Move | undefined }[] = [];
  if (location !== undefined) steps.push({ tool: "read", move: tools.read(location) });
  steps.push({ tool: "ls", move: tools.list(".") }, { tool: "write", move: tools.write(path, SCRIPT) });
  const broken = results.find((result) => result.isError);
  if (broken !== undefined) return failed(scene, broken);
  const step = steps[results.length];
  if (step !== undefined) return step.move ?? missing(scene, step.tool);
  return {
    kind: "say",
    text: zh
      ? `已创建 \`${path}\`：逐个打印当前目录及子目录中的文件，跳过 \`.git\`、\`node_modules\` 和 \`__pycache__\`。\n\n运行方式：\n\n\`\`\`bash\npython3 ${path}\n\`\`\``
      : `I created \`${path}\`: it prints every file below the current directory and skips \`.git\`, \`node_modules\` and \`__pycache__\`.\n\nRun it with:\n\n\`\`\`bash\npython3 ${path}\n\`\`\``,
  };
}

function remember(scene: Scene, fact: string): Move {
  const { tools, results, zh } = scene;
  const [read, written] = results;
  if (read === undefined) return tools.read(MEMORY_FILE) ?? missing(scene, "read");
  if (written === undefined) {
    const before = read.isError ? "# Memory" : textOf(read.content, "\n").trim();
    return tools.write(MEMORY_FILE, `${before}\n- ${fact}\n`) ?? missing(scene, "write");
  }
  if (written.isError) return failed(scene, written);
  return { kind: "say", text: zh ? `已记入 ${MEMORY_FILE}：${fact}` : `Noted in ${MEMORY_FILE}: ${fact}` };
}

function act(wish: Wish, scene: Scene, context: ModelContext): Move {
  const { tools, zh } = scene;
  switch (wish.kind) {
    case "list":
      return once(scene, "ls", tools.list(wish.path), (said) =>
        zh ? `目录内容：\n\n${said}` : `The directory holds:\n\n${said}`,
      );
    case "read":
      return once(scene, "read", tools.read(wish.path), (said) => `${wish.path}:\n\n${said}`);
    case "write":
      return once(scene, "write", tools.write(wish.path, wish.content), (said) =>
        zh ? `已写入 ${wish.path}。${said}` : `Wrote ${wish.path}. ${said}`,
      );
    case "run":
      return once(scene, "exec", tools.run(wish.command), (said) => `\`${wish.command}\`:\n\n${said}`);
    case "recall":
      return once(scene, "read", tools.read(MEMORY_FILE), (said) =>
        zh ? `我记下的内容：\n\n${said}` : `What I noted:\n\n${said}`,
      );
    case "remember":
      return remember(scene, wish.fact);
    case "script":
      return script(scene, context, wish.path);
    case "help":
      return { kind: "say", text: zh ? HELP_ZH : HELP_EN };
  }
}

/** The demo model's next move. Deterministic: the same conversation gives the same move. */
export function nextMove(context: ModelContext): Move {
  const { messages } = context;
  const asked = messages.findLastIndex((message) => message.role === "user");
  const message = messages[asked];
  const words = message?.role === "user" ? ownWords(textOf(message.content, "\n")) : "";
  const zh = isChinese(words);
  const results = messages.slice(asked + 1).filter((later) => later.role === "toolResult");
  const move = act(understand(words), { tools: new Toolbox(context.tools), zh, results }, context);
  if (move.kind === "call") return move;
  const sign = zh ? "【离线演示模型，不是真正的语言模型】" : "[offline demo, not a real language model]";
  return { kind: "say", text: `${sign}\n\n${move.text}` };
}
