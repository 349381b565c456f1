export type Wish =
  | { readonly kind: "list"; readonly path: string }
  | { readonly kind: "read"; readonly path: string }
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  | { readonly kind: "script"; readonly path: string }
  | { readonly kind: "remember"; readonly fact: string }
  | { readonly kind: "recall" }
  | { readonly kind: "run"; readonly command: string }
  | { readonly kind: "help" };

const QUOTE = "[`\"'“”‘’「」]?";
const FILE = `${QUOTE}([\\w\\u4e00-\\u9fff][\\w\\u4e00-\\u9fff./-]*\\.[A-Za-z0-9]{1,8}|[\\w.-]+/[\\w./-]+)${QUOTE}`;
const unquoted = (text: string): string => text.trim().replace(/^[`"'“「]([\s\S]*)[`"'”」]$/, "$1");

type Rule = readonly [RegExp, (match: RegExpMatchArray) => Wish];
const at = (match: RegExpMatchArray, group: number): string => match[group] ?? "";

/** The first matching rule applies. */
const RULES: readonly Rule[] = [
  [
    new RegExp(
      `\\b(?:write|create|save|make)\\b(?: (?:a|the))?(?: new)?(?: file)?(?: (?:named|called))? ${FILE} (?:with|containing)(?: the)?(?: (?:content|text)s?)?[:,]?\\s*([\\s\\S]+)`,
      "i",
    ),
    (m) => ({ kind: "write", path: at(m, 1), content: unquoted(at(m, 2)) }),
  ],
  [
    new RegExp(`\\b(?:write|save|put) ([\\s\\S]+?) (?:to|into|in) (?:the )?(?:file )?${FILE}\\s*[.!]?$`, "i"),
    (m) => ({ kind: "write", path: at(m, 2), content: unquoted(at(m, 1)) }),
  ],
  [
    new RegExp(
      `(?:写入?|创建|新建|保存)(?:一个)?(?:文件)?[\\s:：]*${FILE}\\s*[,，。]?\\s*(?:文件)?[,，]?\\s*内容(?:是|为)?[\\s:：]*([\\s\\S]+)`,
    ),
    (m) => ({ kind: "write", path: at(m, 1), content: unquoted(at(m, 2)) }),
  ],
  [
    new RegExp(`把\\s*([\\s\\S]+?)\\s*(?:写入|写到|写进|保存到|存到)(?:文件)?\\s*${FILE}`),
    (m) => ({ kind: "write", path: at(m, 2), content: unquoted(at(m, 1)) }),
  ],
  [
    /\bpython\b[\s\S]*\bscript\b|\bscript\b[\s\S]*\bpython\b|python[\s\S]*脚本|脚本[\s\S]*python|create-python-script/i,
    (m) => ({ kind: "script", path: /([\w-]+\.py)\b/.exec(m.input ?? "")?.[1] ?? "list_files.py" }),
  ],
  [
    /\bwhat (?:do|did) you (?:remember|know about me)|\bwhat have i told you|(?:你|还)(?:都)?记得(?:什么|哪些)|记住了(?:什么|哪些)/i,
    () => ({ kind: "recall" }),
  ],
  [/\bremember(?: that)?[\s:,]+([\s\S]+)/i, (m) => ({ kind: "remember", fact: at(m, 1).trim() })],
  [
    /(?:请)?(?:帮我)?(?:记住|记一下|记下)[\s:：，,]*([\s\S]+)/,
    (m) => ({ kind: "remember", fact: at(m, 1).trim() }),
  ],
  [/\b(?:run|execute)(?: the)?(?: command)?[\s:]+`([^`]+)`/i, (m) => ({ kind: "run", command: at(m, 1) })],
  [/(?:运行|执行)(?:命令)?[\s:：]*`([^`]+)`/, (m) => ({ kind: "run", command: at(m, 1) })],
  [
    new RegExp(
      `\\b(?:read|open|show|print|cat)\\b(?: me)?(?: the)?(?: contents? of)?(?: the)?(?: file)? ${FILE}`,
      "i",
    ),
    (m) => ({ kind: "read", path: at(m, 1) }),
  ],
  [
    new RegExp(`(?:读取?一?下?|打开|显示|看看|查看)(?:文件)?[\\s:：]*${FILE}`),
    (m) => ({ kind: "read", path: at(m, 1) }),
  ],
  [
    /\b(?:list|show|what)\b[\s\S]*\b(?:files|directory|folder|workspace)\b(?:[\s\S]*?\bin ([\w./-]+\/[\w./-]*))?|^\s*ls(?: ([\w./-]+))?\s*$/i,
    (m) => ({ kind: "list", path: m[1] ?? m[2] ?? "." }),
  ],
  [
    /(?:列出|有哪些|看看|查看|显示|列一下)[\s\S]*(?:文件|目录)|目录(?:下|里)有/,
    () => ({ kind: "list", path: "." }),
  ],
];

/** Returns a user message without the context that a gateway adds. */
export function ownWords(text: string): string {
  const tag = text.lastIndexOf("[message_id:");
  if (tag < 0) return text.trim();
  const after = text.slice(tag).replace(/^\[message_id:[^\]\n]*\]\s*/, "");
  return after.replace(/^[^\n:：]{1,64}[:：]\s*/, "").trim();
}

/** Recognizes a few requests in English and Chinese. Treats everything else as a request for help. */
export function understand(words: string): Wish {
  for (const [pattern, wish] of RULES) {
    const match = words.match(pattern);
    if (match !== null) return wish(match);
  }
  return { kind: "help" };
}
