import type { Chunk } from "@signalbox/memory";
import type { MemoryEntry, MemoryResult } from "@signalbox/protocol";
import { formatSessionKey } from "@signalbox/routing";
import { type AdminService, ApiError } from "@signalbox/server";
import type { Agent } from "../../configure/agents.ts";
import type { GatewayContext } from "../../context.ts";
import { getAgent } from "./agents.ts";

type MemoryAdmin = Pick<AdminService, "searchMemory" | "addMemory" | "editMemory" | "forgetMemory">;

/** Searches and lists agents' memories, and adds, changes and removes entries. */
export function createMemoryAdmin(ctx: GatewayContext): MemoryAdmin {
  const { config, memories, audit, seats } = ctx;

  /** @throws ApiError if there is no such agent, or no memory of it here */
  const open = (id: string): Agent => {
    const agent = getAgent(ctx, id);
    if (!config.current().settings.memory.enabled)
      throw new ApiError("conflict", "The memory is turned off.", {
        remedy: "Set memory.enabled to true in the configuration.",
      });
    if (!seats.isHere(agent.id))
      throw new ApiError("conflict", `The agent ${id} runs on another node, which has its memory.`);
    return agent;
  };

  return {
    async searchMemory(id, { query, offset, limit }) {
      const memory = await memories.of(open(id));
      const { notes, turns } = await memory.status();
      if (query.trim() === "") {
        const list = await memory.list({ reader: "all", offset, limit });
        const summary = `${list.total} note sections and ${turns} messages can be searched.`;
        return { summary, entries: list.notes.map(toEntry), notes: list.total, turns };
      }
      const { hits, summary } = await memory.search(query, { limit, reader: "all", neighbours: 0 });
      const result: MemoryResult = { summary, entries: hits.map(toEntry), notes, turns };
      return result;
    },
    async addMemory(id, { text, kind }, actor) {
      const agent = open(id);
      const added = await (await memories.of(agent)).write({ text, kind, author: actor });
      const details = { agent: agent.id };
      if (added.isNew) audit.operation({ action: "added", subject: `memory: ${added.id}`, details }, actor);
      return added;
    },
    async editMemory(id, edit, actor) {
      const agent = open(id);
      const outcome = await (await memories.of(agent)).edit(edit);
      if (outcome === "not_a_note")
        throw new ApiError("conflict", "This entry is a message, which cannot be changed.", {
          remedy: "You can forget it.",
        });
      if (outcome === "changed")
        throw new ApiError("conflict", "The entry has been changed or removed in the meantime.", {
          remedy: "Search again, and repeat your change.",
        });
      const details = { agent: agent.id };
      audit.operation({ action: "edited", subject: `memory: ${edit.id}`, details }, actor);
    },
    async forgetMemory(id, ids, actor) {
      const agent = open(id);
      const sessionKey = formatSessionKey({
        kind: "direct",
        agentId: agent.id,
        channel: "web",
        peerId: "memory",
      });
      const removed = await memories.forget(agent, ids, "all", sessionKey);
      const details = { agent: agent.id, entries: removed.length };
      if (removed.length > 0)
        audit.operation({ action: "forgotten", subject: `memory: ${removed.join(", ")}`, details }, actor);
      return { ids: [...removed] };
    },
  };
}

function toEntry({
  id,
  source,
  text,
  at,
  scope,
  author,
  chat,
  message,
  untrusted,
  note,
}: Chunk): MemoryEntry {
  return {
    id,
    source,
    text,
    at,
    scope: scope.kind,
    scopeId: scope.kind === "person" ? scope.person : scope.kind === "chat" ? scope.chat : undefined,
    author: author?.name ?? author?.id,
    sessionKey: chat,
    messageId: message,
    untrusted,
    path: note && `memory/${note.path}`,
    lines: note && [...note.lines],
  };
}
