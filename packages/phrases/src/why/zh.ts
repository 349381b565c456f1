import type { why as en } from "./en.ts";

export const why: typeof en = {
  pruned: "只剩下关于它的记录：消息本身已被清理。",
  states: {
    accepted: (who) => `它在等待${who}`,
    queued: (who) => `它在等待${who}`,
    running: (who) => `${who}正在回答它`,
    replied: (who) => `${who}回答了它`,
    silent: (who) => `${who}看到了它，没有回复`,
    ignored: () => "它没有得到回答",
    "failed-reported": (who, reason) => `${who}没能回答它${reason === undefined ? "" : `（${reason}）`}`,
    "expired-reported": () => "到可以回答时，它已经过时了",
  },
  anAgent: "智能体",
  agent: (id) => `智能体“${id}”`,
  sentence: (state, because, rule) =>
    `${state}${because === undefined ? "" : `：${because}`}${rule === undefined ? "" : `（${rule}）`}。`,
};
