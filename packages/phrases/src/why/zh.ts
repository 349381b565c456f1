import type { why as en } from "./en.ts";

export const why: typeof en = {
  pruned: "消息本身已被清理，仅保留处理记录。",
  states: {
    accepted: (who) => `该消息正在等待${who}处理`,
    queued: (who) => `该消息正在等待${who}处理`,
    running: (who) => `${who}正在回答该消息`,
    sending: (who, reason) => `${who}已回答，但尚未送达${reason === undefined ? "" : `：${reason}`}`,
    uncertain: (who, reason) =>
      `${who}已回答，但无法确认是否送达${reason === undefined ? "" : `：${reason}`}`,
    replied: (who) => `${who}已回答该消息`,
    silent: (who) => `${who}已处理该消息，未回复`,
    ignored: () => "该消息未被回答",
    "failed-reported": (who, reason) => `${who}未能回答该消息${reason === undefined ? "" : `（${reason}）`}`,
    "expired-reported": () => "该消息在回答之前已过期",
    unreported: (who, reason) =>
      `${who}的回答未能送达${reason === undefined ? "" : `（${reason}）`}，也没有人收到通知`,
  },
  remedies: {
    sending: "网关会自动重试。运行 `signalbox outbox list --all` 可查看重试记录。",
    uncertain:
      "请查看聊天窗口。如果没有收到回答，可运行 `signalbox outbox list`，再用 `outbox retry` 重新发送。",
  },
  anAgent: "智能体",
  agent: (id) => `智能体“${id}”`,
  sentence: (state, because, rule) =>
    `${state}${because === undefined ? "" : `：${because}`}${rule === undefined ? "" : `（${rule}）`}。`,
};
