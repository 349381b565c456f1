/** A text in English and in Chinese. */
export type Text = readonly [en: string, zh: string];

/** The documentation of one parameter. The type and the limits come from the schema. */
export interface ParameterDoc {
  readonly text: Text;
  /** Markdown. Default: the parameter has no default. */
  readonly default?: string | Text;
}

/** The documentation of one tool for people. The descriptions in the code are prompts for models. */
export interface ToolDoc {
  readonly summary: Text;
  /** Parameters by name, in the order of the schema. Members of a list are named `list[].member`. */
  readonly parameters: Readonly<Record<string, ParameterDoc>>;
  /** A call, as a model would make it. */
  readonly example: Readonly<Record<string, unknown>>;
}

const MESSAGE_ID: ParameterDoc = {
  text: [
    "Message for `react`, `edit`, `delete` and `close_poll`: an id from the conversation, or `sent-…` from an earlier result.",
    "`react`、`edit`、`delete` 和 `close_poll` 作用的消息：对话中的消息 ID，或先前结果中的 `sent-…`。",
  ],
};
const SESSION: ParameterDoc = {
  text: [
    "Id of a sub-agent, or key of another conversation from `sessions_list`.",
    "子智能体的 ID，或 `sessions_list` 列出的其他对话的键。",
  ],
};

const REFERENCE: ParameterDoc = {
  text: [
    "Reference of the element in the latest snapshot, such as `e5`.",
    "元素在最近一次快照中的编号，如 `e5`。",
  ],
};

/** The documentation of the built-in tools. */
export const TOOL_DOCS: Readonly<Record<string, ToolDoc>> = {
  read: {
    summary: [
      "Reads a file. A text that does not fit is shortened in the middle. PNG, JPEG, GIF and WebP are returned as images.",
      "读取文件。过长的文本会省略中间部分。PNG、JPEG、GIF 和 WebP 以图片形式返回。",
    ],
    parameters: {
      file_path: {
        text: [
          "Path of the file, relative to the workspace, or absolute in a readable folder.",
          "文件路径，相对于工作区；可读文件夹中的文件也可用绝对路径。",
        ],
      },
      offset: { text: ["Number of the first line.", "起始行号。"], default: "`1`" },
      limit: {
        text: ["Number of lines.", "行数。"],
        default: ["all lines that fit", "能容纳的全部行"],
      },
    },
    example: { file_path: "notes/today.md", offset: 200, limit: 50 },
  },
  write: {
    summary: [
      "Creates or replaces a file. Missing folders are created.",
      "新建或替换文件，并创建缺少的文件夹。",
    ],
    parameters: {
      file_path: { text: ["Path of the file, relative to the workspace.", "文件路径，相对于工作区。"] },
      content: { text: ["New content of the file.", "文件的新内容。"] },
    },
    example: { file_path: "notes/today.md", content: "Buy milk.\n" },
  },
  edit: {
    summary: [
      "Replaces exact texts in a file. Each old text must occur exactly once, unless `replace_all` is set. If one replacement fails, the file stays unchanged.",
      "精确替换文件中的文本。除非设置了 `replace_all`，原文必须恰好出现一次。任何一处替换失败，文件都保持不变。",
    ],
    parameters: {
      file_path: { text: ["Path of the file, relative to the workspace.", "文件路径，相对于工作区。"] },
      old_string: {
        text: ["Text to replace. Required without `edits`.", "要替换的原文。没有 `edits` 时必填。"],
      },
      new_string: {
        text: ["Replacement. Required without `edits`.", "替换后的文本。没有 `edits` 时必填。"],
      },
      replace_all: { text: ["Replaces every occurrence.", "替换所有出现之处。"], default: "`false`" },
      edits: {
        text: [
          "Several replacements, applied in order, instead of the three parameters above.",
          "按顺序执行的多处替换，代替上面三个参数。",
        ],
      },
      "edits[].old_string": { text: ["Text to replace.", "要替换的原文。"] },
      "edits[].new_string": { text: ["Replacement.", "替换后的文本。"] },
      "edits[].replace_all": {
        text: ["Replaces every occurrence.", "替换所有出现之处。"],
        default: "`false`",
      },
    },
    example: { file_path: "notes/today.md", old_string: "Buy milk.", new_string: "Buy oat milk." },
  },
  apply_patch: {
    summary: [
      "Adds, changes, moves and deletes several files with one patch. Nothing is written unless the whole patch fits.",
      "用一个补丁新增、修改、移动和删除多个文件。整个补丁都能应用时才会写入。",
    ],
    parameters: {
      patch: {
        text: [
          "Patch between `*** Begin Patch` and `*** End Patch`, with a section for each file: `*** Add File: <path>`, `*** Update File: <path>` or `*** Delete File: <path>`. `*** Move to: <path>` after the head of an update renames the file.",
          "位于 `*** Begin Patch` 和 `*** End Patch` 之间的补丁，每个文件一节：`*** Add File: <path>`、`*** Update File: <path>` 或 `*** Delete File: <path>`。更新一节的标题后加 `*** Move to: <path>` 可重命名文件。",
        ],
      },
    },
    example: {
      patch:
        '*** Begin Patch\n*** Update File: a.py\n@@ def greet():\n-    print("Hi")\n+    print("Hello")\n*** End Patch',
    },
  },
  ls: {
    summary: [
      "Lists a folder, one entry per line. Folders end in `/`, links in `@`.",
      "列出文件夹内容，每行一项。文件夹以 `/` 结尾，链接以 `@` 结尾。",
    ],
    parameters: {
      path: {
        text: [
          "Path of the folder, relative to the workspace. `.` is the workspace.",
          "文件夹路径，相对于工作区。`.` 表示工作区本身。",
        ],
      },
    },
    example: { path: "notes" },
  },
  find: {
    summary: [
      "Finds files by name. `.git` and `node_modules` are not searched.",
      "按名称查找文件。不搜索 `.git` 和 `node_modules`。",
    ],
    parameters: {
      glob: {
        text: [
          "Pattern: `*.ts` matches names in every folder, `src/**/*.ts` matches paths.",
          "匹配模式：`*.ts` 匹配任意文件夹中的文件名，`src/**/*.ts` 匹配路径。",
        ],
      },
      path: { text: ["Folder to search.", "要搜索的文件夹。"], default: ["the workspace", "工作区"] },
    },
    example: { glob: "src/**/*.ts" },
  },
  grep: {
    summary: [
      "Searches the text of files. Returns matches as `file:line: text`. `.git` and `node_modules` are not searched.",
      "搜索文件内容，以 `文件:行号: 文本` 的形式返回结果。不搜索 `.git` 和 `node_modules`。",
    ],
    parameters: {
      pattern: {
        text: [
          "Regular expression. Escape special characters: `foo\\(`.",
          "正则表达式。特殊字符需要转义：`foo\\(`。",
        ],
      },
      path: {
        text: ["Folder or file to search.", "要搜索的文件夹或文件。"],
        default: ["the workspace", "工作区"],
      },
      glob: {
        text: ["Searches only matching files, such as `*.ts`.", "只搜索匹配的文件，例如 `*.ts`。"],
        default: ["all files", "所有文件"],
      },
      ignore_case: { text: ["Ignores upper and lower case.", "忽略大小写。"], default: "`false`" },
      context: {
        text: ["Number of lines before and after each match.", "每个结果前后显示的行数。"],
        default: "`0`",
      },
    },
    example: { pattern: "TODO\\(anna\\)", glob: "*.md", context: 1 },
  },
  exec: {
    summary: [
      "Runs a shell command in the workspace. In the sandbox it has no network and can write only to the workspace. If `tools.exec.domains` lists hosts, there is also the parameter `network` (boolean), which lets the command reach them.",
      "在工作区中运行 shell 命令。在沙箱中没有网络，只能写入工作区。如果 `tools.exec.domains` 列出了主机，还有参数 `network`（布尔值），允许命令访问这些主机。",
    ],
    parameters: {
      command: { text: ["Shell script.", "Shell 脚本。"] },
      cwd: {
        text: ["Folder to run in, relative to the workspace.", "运行命令的文件夹，相对于工作区。"],
        default: ["the workspace", "工作区"],
      },
      timeout_seconds: {
        text: [
          "Time limit in seconds, at most `tools.exec.timeoutMs`.",
          "时限（秒），不超过 `tools.exec.timeoutMs`。",
        ],
        default: "`60`",
      },
      background: {
        text: [
          "Runs in the background, for up to one hour. See [`process`](#process).",
          "在后台运行，最长一小时。参见 [`process`](#process)。",
        ],
        default: "`false`",
      },
      pty: { text: ["Runs in a terminal.", "在终端中运行。"], default: "`false`" },
    },
    example: { command: "npm test", timeout_seconds: 50 },
  },
  process: {
    summary: [
      "Lists, reads, writes to and ends the background commands of the conversation.",
      "列出、读取、写入和结束本对话的后台命令。",
    ],
    parameters: {
      action: {
        text: [
          "`poll` returns the output so far, `write` writes to the input.",
          "`poll` 返回目前的输出，`write` 写入标准输入。",
        ],
      },
      id: {
        text: ["Id of the command. Required except for `list`.", "命令的 ID。除 `list` 外必填。"],
      },
      input: {
        text: [
          "Text for `write`, with its line break. An empty text closes the input.",
          "`write` 写入的文本，包括换行符。空文本会关闭输入。",
        ],
      },
      wait_seconds: {
        text: ["Seconds to wait for new output.", "等待新输出的秒数。"],
        default: "`0`",
      },
    },
    example: { action: "poll", id: "p1", wait_seconds: 10 },
  },
  message: {
    summary: [
      "Sends and changes messages, polls and reactions. The channel must support the action.",
      "发送和修改消息、投票与表情回应。渠道必须支持相应操作。",
    ],
    parameters: {
      action: { text: ["Action.", "操作。"] },
      message: {
        text: [
          "Text for `send` and `edit`, question for `poll`.",
          "`send` 和 `edit` 的文本，或 `poll` 的问题。",
        ],
      },
      target: {
        text: [
          "Another conversation: its address, such as `slack:C024BE91L`, or a person's id.",
          "其他对话：其地址（例如 `slack:C024BE91L`）或某人的 ID。",
        ],
        default: ["the current conversation", "当前对话"],
      },
      channel: {
        text: ["Channel of a person's id.", "该用户 ID 所属的渠道。"],
        default: ["the current channel", "当前渠道"],
      },
      options: { text: ["Answers of a poll.", "投票选项。"] },
      multiple: { text: ["A poll accepts several answers.", "投票允许多选。"], default: "`false`" },
      media: { text: ["Files or URLs to attach.", "要附加的文件或 URL。"] },
      reply_to: {
        text: ["Id of the message that `send` replies to.", "`send` 所回复的消息的 ID。"],
      },
      message_id: MESSAGE_ID,
      emoji: { text: ["Reaction for `react`.", "`react` 的表情。"] },
    },
    example: { action: "send", message: "The build is green." },
  },
  ask_user: {
    summary: [
      "Asks the person that the agent works for a question, and waits for the answer.",
      "向智能体所服务的人提问，并等待回答。",
    ],
    parameters: {
      question: { text: ["Question.", "问题。"] },
      options: {
        text: [
          "Suggested answers, shown as buttons. The person can also answer in their own words.",
          "建议的回答，显示为按钮。对方也可以自行输入。",
        ],
      },
      timeout_minutes: { text: ["Time limit in minutes.", "等待的分钟数。"], default: "`60`" },
    },
    example: {
      question: "Which of the two drafts shall I send?",
      options: ["The short one", "The long one"],
    },
  },
  web_fetch: {
    summary: [
      "Reads a page, PDF or JSON document from the public web as text. The content is untrusted.",
      "以文本形式读取公网上的网页、PDF 或 JSON 文档。内容视为不可信。",
    ],
    parameters: {
      url: { text: ["Address with `http` or `https`.", "`http` 或 `https` 地址。"] },
      offset: {
        text: ["First character, to continue a long page.", "起始字符位置，用于继续读取长页面。"],
        default: "`0`",
      },
    },
    example: { url: "https://example.com/paper.pdf", offset: 20_000 },
  },
  web_search: {
    summary: [
      "Searches the web with the service in `tools.web.search`. Without the setting, the tool does not exist.",
      "使用 `tools.web.search` 配置的服务搜索网络。没有该配置时此工具不存在。",
    ],
    parameters: {
      query: { text: ["Search terms.", "搜索词。"] },
      limit: { text: ["Number of results.", "结果数量。"], default: "`5`" },
    },
    example: { query: "weather in Hangzhou tomorrow", limit: 3 },
  },
  browser_navigate: {
    summary: [
      "Opens a page in the agent's browser, and returns it as a list of elements. Needs `tools.browser`. In a tainted run, an address that nobody mentioned needs approval.",
      "在智能体的浏览器中打开页面，并以元素列表返回。需要设置 `tools.browser`。在受污染的运行中，访问未经任何人提供的网址需要审批。",
    ],
    parameters: { url: { text: ["Address with `http` or `https`.", "`http` 或 `https` 网址。"] } },
    example: { url: "https://example.org/" },
  },
  browser_back: {
    summary: ["Goes back to the previous page.", "返回上一页。"],
    parameters: {},
    example: {},
  },
  browser_snapshot: {
    summary: [
      "Reads the current page as a list of elements with their references.",
      "读取当前页面，返回带编号的元素列表。",
    ],
    parameters: {
      offset: {
        text: ["First character, to continue a long page.", "起始字符，用于继续读取长页面。"],
        default: "`0`",
      },
    },
    example: { offset: 12000 },
  },
  browser_screenshot: {
    summary: [
      "Takes a picture of the visible part of the current page, and shows it to the model.",
      "截取当前页面的可见部分，并展示给模型。",
    ],
    parameters: {},
    example: {},
  },
  browser_click: {
    summary: [
      "Clicks an element of the current page. In a tainted run, this needs approval.",
      "点击当前页面的元素。在受污染的运行中需要审批。",
    ],
    parameters: {
      ref: REFERENCE,
      double: { text: ["Clicks twice.", "双击。"], default: "`false`" },
    },
    example: { ref: "e5" },
  },
  browser_type: {
    summary: [
      "Replaces the text of a field of the current page. In a tainted run, this needs approval.",
      "替换当前页面输入框的文本。在受污染的运行中需要审批。",
    ],
    parameters: {
      ref: REFERENCE,
      text: { text: ["New text of the field.", "输入框的新文本。"] },
      submit: { text: ["Presses Enter afterwards.", "随后按下 Enter。"], default: "`false`" },
    },
    example: { ref: "e7", text: "desk lamp", submit: true },
  },
  browser_select: {
    summary: [
      "Selects options of a dropdown of the current page. In a tainted run, this needs approval.",
      "选择当前页面下拉框的选项。在受污染的运行中需要审批。",
    ],
    parameters: {
      ref: REFERENCE,
      values: { text: ["Values or labels of the options.", "选项的值或标签。"] },
    },
    example: { ref: "e9", values: ["Large"] },
  },
  browser_press_key: {
    summary: [
      "Presses a key on the current page. In a tainted run, this needs approval.",
      "在当前页面按下按键。在受污染的运行中需要审批。",
    ],
    parameters: {
      key: {
        text: [
          "A character, or a key such as `Enter` or `PageDown`.",
          "字符，或 `Enter`、`PageDown` 等按键。",
        ],
      },
    },
    example: { key: "PageDown" },
  },
  browser_dialog: {
    summary: [
      "Answers the dialog that blocks the current page. In a tainted run, this needs approval.",
      "回应阻塞当前页面的对话框。在受污染的运行中需要审批。",
    ],
    parameters: {
      accept: { text: ["`false` dismisses the dialog.", "`false` 表示取消。"] },
      text: {
        text: ["Answer, if the dialog asks for one.", "对话框要求输入时的回答。"],
        default: ["none", "无"],
      },
    },
    example: { accept: false },
  },
  browser_tabs: {
    summary: ["Lists, selects or closes the tabs of the browser.", "列出、切换或关闭浏览器的标签页。"],
    parameters: {
      action: { text: ["The action.", "操作。"] },
      index: {
        text: ["Tab for `select` and `close`.", "`select` 和 `close` 作用的标签页。"],
        default: ["the current one for `close`", "`close` 默认为当前标签页"],
      },
    },
    example: { action: "select", index: 1 },
  },
  browser_wait: {
    summary: [
      "Waits until a text appears on the current page, or for some seconds.",
      "等待当前页面出现指定文本，或等待若干秒。",
    ],
    parameters: {
      text: { text: ["Text to wait for.", "要等待的文本。"], default: ["none", "无"] },
      seconds: { text: ["Seconds to wait, without `text`.", "没有 `text` 时等待的秒数。"], default: "`3`" },
    },
    example: { text: "Order placed" },
  },
  browser_downloads: {
    summary: [
      "Lists the files that pages downloaded since the browser started.",
      "列出浏览器启动以来网页下载的文件。",
    ],
    parameters: {},
    example: {},
  },
  browser_save_download: {
    summary: [
      "Saves a downloaded file of at most 50 MB in the workspace. This always needs approval, and the file stays marked as untrusted.",
      "将下载的文件（最大 50 MB）保存到工作区。始终需要审批，文件仍标记为不可信。",
    ],
    parameters: {
      name: { text: ["Name from `browser_downloads`.", "`browser_downloads` 列出的名称。"] },
      file_path: {
        text: ["Path of the new file, relative to the workspace.", "新文件的路径，相对于工作区。"],
      },
    },
    example: { name: "report.pdf", file_path: "downloads/report.pdf" },
  },
  image: {
    summary: [
      "Lets the model in `tools.image` describe an image or answer a question about it. Without the setting, the tool does not exist.",
      "由 `tools.image` 配置的模型描述图片或回答有关图片的问题。没有该配置时此工具不存在。",
    ],
    parameters: {
      file_path: {
        text: ["Path of the image: PNG, JPEG, GIF or WebP.", "图片路径：PNG、JPEG、GIF 或 WebP。"],
      },
      question: { text: ["Question.", "问题。"], default: ["describe the image", "描述图片"] },
    },
    example: { file_path: "inbox/photo.jpg", question: "What does the sign say?" },
  },
  generate_image: {
    summary: [
      "Generates an image with the model in `tools.imageGeneration`, and stores it as a file. Without the setting, the tool does not exist.",
      "用 `tools.imageGeneration` 配置的模型生成图片，并保存为文件。没有该配置时此工具不存在。",
    ],
    parameters: {
      prompt: { text: ["Description of the image.", "图片描述。"] },
      file_path: {
        text: [
          "Path of the new file, with `.png`, `.jpg` or `.webp`.",
          "新文件的路径，以 `.png`、`.jpg` 或 `.webp` 结尾。",
        ],
      },
      shape: { text: ["Shape.", "形状。"], default: ["`square`", "`square`"] },
    },
    example: { prompt: "A red lamp on a desk, watercolor", file_path: "images/lamp.png" },
  },
  cron: {
    summary: ["Schedules tasks of the agent in the conversation.", "为智能体在本对话中安排定时任务。"],
    parameters: {
      action: {
        text: ["`run` runs a schedule immediately.", "`run` 立即执行一次。"],
      },
      text: { text: ["Task. Required for `add`.", "任务内容。`add` 时必填。"] },
      at: {
        text: [
          "Time of a single run: `2026-12-24T18:00`. `add` needs exactly one of `at`, `in`, `every` and `cron`.",
          "单次执行的时间：`2026-12-24T18:00`。`add` 需要 `at`、`in`、`every`、`cron` 中的恰好一个。",
        ],
      },
      in: { text: ["Delay of a single run: `2h 30m`.", "单次执行的延迟：`2h 30m`。"] },
      every: { text: ["Interval: `1d`.", "间隔：`1d`。"] },
      cron: { text: ["Cron expression: `0 9 * * 1-5`.", "Cron 表达式：`0 9 * * 1-5`。"] },
      zone: {
        text: [
          "IANA time zone for `at` and `cron`: `Europe/Berlin`.",
          "`at` 和 `cron` 的 IANA 时区：`Asia/Shanghai`。",
        ],
        default: ["the person's time zone", "用户的时区"],
      },
      missed: {
        text: [
          "`once` runs a task late, and only once, if its time passed while the gateway was down. `skip` does not run it.",
          "网关停机期间错过的任务：`once` 补执行一次，`skip` 不执行。",
        ],
        default: "`once`",
      },
      id: {
        text: [
          "Id of a schedule. Required for `remove` and `run`.",
          "定时任务的 ID。`remove` 和 `run` 时必填。",
        ],
      },
    },
    example: {
      action: "add",
      text: "Remind Anna of the call.",
      at: "2026-12-24T17:45",
      zone: "Europe/Berlin",
    },
  },
  sessions_spawn: {
    summary: [
      "Starts a sub-agent with a task. It works in parallel, and its result arrives as a message.",
      "启动子智能体并行执行任务，结果以消息形式返回。",
    ],
    parameters: {
      task: {
        text: [
          "Task. The sub-agent knows nothing else of the conversation.",
          "任务内容。子智能体不了解对话的其他内容。",
        ],
      },
      label: { text: ["Short name.", "简短的名称。"] },
      tools: {
        text: ["Names, groups or profiles of its tools.", "它可用的工具：名称、分组或预设。"],
        default: ["all tools of the run", "本次运行的全部工具"],
      },
    },
    example: {
      label: "release notes",
      task: "Read CHANGES.md and list every change since version 3 that breaks callers, with its line.",
      tools: ["read", "grep"],
    },
  },
  sessions_send: {
    summary: [
      "Gives a sub-agent another task, or sends a message to the agent of another conversation, which replies there.",
      "向子智能体布置新任务，或向其他对话的智能体发送消息，由它在那里回复。",
    ],
    parameters: { session: SESSION, message: { text: ["Message or task.", "消息或任务内容。"] } },
    example: { session: "3f2a90c1d4e5", message: "And which of them had a deprecation before?" },
  },
  sessions_list: {
    summary: ["Lists the sub-agents of the session and their progress.", "列出本会话的子智能体及其进度。"],
    parameters: {
      others: {
        text: [
          "Also lists other conversations that `tools.sessions.visibility` allows.",
          "同时列出 `tools.sessions.visibility` 允许访问的其他对话。",
        ],
        default: "`false`",
      },
    },
    example: {},
  },
  sessions_history: {
    summary: [
      "Returns the newest messages of a sub-agent's session or of another conversation, oldest first.",
      "返回子智能体会话或其他对话的最新消息，按时间从早到晚排列。",
    ],
    parameters: {
      session: SESSION,
      limit: { text: ["Number of messages.", "消息数量。"], default: "`10`" },
    },
    example: { session: "3f2a90c1d4e5", limit: 10 },
  },
  memory_search: {
    summary: ["Searches the agent's notes and earlier conversations.", "搜索智能体的笔记和以往的对话。"],
    parameters: {
      query: { text: ["Search terms or a question.", "搜索词或问题。"] },
      limit: { text: ["Number of entries.", "条目数量。"], default: "`6`" },
    },
    example: { query: "when does Anna have her birthday" },
  },
  memory_get: {
    summary: ["Returns one memory entry with its neighbors.", "返回一条记忆及其相邻内容。"],
    parameters: { id: { text: ["Id from `memory_search`.", "`memory_search` 返回的 ID。"] } },
    example: { id: "notes/2026-05-01#3" },
  },
  memory_write: {
    summary: ["Writes a note.", "写入一条笔记。"],
    parameters: {
      text: {
        text: ["Fact, preference or decision, in one sentence.", "一句话的事实、偏好或决定。"],
      },
      lasting: { text: ["Adds the note to every prompt.", "将笔记加入每次提示词。"], default: "`false`" },
    },
    example: { text: "Anna prefers tea.", lasting: true },
  },
  memory_forget: {
    summary: ["Deletes memory entries permanently.", "永久删除记忆条目。"],
    parameters: { ids: { text: ["Ids of the entries.", "条目的 ID。"] } },
    example: { ids: ["notes/2026-05-01#3"] },
  },
  gateway: {
    summary: [
      "Shows the status and the configuration of the gateway, and proposes changes. An owner approves the diff of each change.",
      "查看网关的状态和配置，并提议修改。每项修改都由所有者确认具体差异后才生效。",
    ],
    parameters: {
      action: {
        text: ["`propose` sets or removes a configuration key.", "`propose` 设置或删除一个配置项。"],
      },
      key: {
        text: [
          "Configuration key, such as `agents.defaults.model`. Required for `propose`.",
          "配置项，例如 `agents.defaults.model`。`propose` 时必填。",
        ],
        default: ["the whole configuration", "整个配置"],
      },
      value: {
        text: ["New value. Without it, `propose` removes the key.", "新值。省略时 `propose` 删除该配置项。"],
      },
    },
    example: { action: "propose", key: "agents.defaults.heartbeat.every", value: "1h" },
  },
};
