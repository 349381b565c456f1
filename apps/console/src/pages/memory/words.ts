import { pageWords } from "../../words/words.tsx";

const en = {
  description:
    "What an agent remembers: its notes, which owners can edit, and its conversations with everybody.",
  agent: "Agent",
  search: "Search the memory",
  begin: "Search for something",
  beginHelp: (notes: number, turns: number) =>
    `The memory has ${notes} sections of notes and ${turns} messages.`,
  none: "Nothing found",
  noneYet: "Try fewer or other words.",
  sources: { note: "note", turn: "message" },
  scopes: { everyone: "visible to everyone", person: "private", chat: "of a chat" },
  untrusted: "contains content from others",
  openMessage: "Open the message",
  openNote: "Open the note",
  edit: "Edit",
  editTitle: "Edit this entry",
  text: "Text",
  save: "Save",
  saved: "The entry is saved.",
  isMessage: "A message cannot be edited. You can forget it.",
  forget: "Forget",
  reallyForget: "Forget this entry?",
  forgets: "Its text is removed from the notes, the index and the conversations. This cannot be undone.",
  forgotten: (count: number) =>
    count === 1 ? "One entry has been forgotten." : `${count} entries have been forgotten.`,
};

const zh: typeof en = {
  description: "智能体记住的内容：它的笔记（所有者可以编辑），以及与所有人的对话。",
  agent: "智能体",
  search: "搜索记忆",
  begin: "输入要搜索的内容",
  beginHelp: (notes, turns) => `记忆中有 ${notes} 段笔记和 ${turns} 条消息。`,
  none: "没有找到",
  noneYet: "请减少或更换关键词。",
  sources: { note: "笔记", turn: "消息" },
  scopes: { everyone: "所有人可见", person: "私有", chat: "群聊内" },
  untrusted: "包含他人提供的内容",
  openMessage: "查看消息",
  openNote: "打开笔记",
  edit: "编辑",
  editTitle: "编辑这条内容",
  text: "内容",
  save: "保存",
  saved: "内容已保存。",
  isMessage: "消息不能编辑，可以忘记。",
  forget: "忘记",
  reallyForget: "忘记这条内容？",
  forgets: "内容会从笔记、索引和对话中删除，无法恢复。",
  forgotten: (count) => `已忘记 ${count} 条内容。`,
};

export const useMemoryWords = pageWords({ en, zh });
