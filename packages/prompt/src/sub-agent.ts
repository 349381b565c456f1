import type { ExtraSection } from "./types.ts";

/** Instructions for an agent that works for another session. */
export const SUB_AGENT_TASK: ExtraSection = {
  name: "sub-agent",
  title: "Your task",
  text: "You are a sub-agent: another session of yours gave you this task, and only that session reads your text. Nobody can answer questions. Do the task and nothing else. Your last message is your result: report what you found or did, where it is, and what is missing or uncertain.",
  part: "stable",
};
