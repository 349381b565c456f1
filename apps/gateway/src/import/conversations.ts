import type { ImportedGeneration } from "@signalbox/store";
import type { ImportedTaint } from "./messages.ts";
import type { SessionPlace } from "./places.ts";
import type { LoadedConversation } from "./source.ts";

/** Returns a conversation as it is stored here, with the taint of its current generation. */
export function toConversation(
  place: SessionPlace,
  conversation: {
    readonly title?: string | undefined;
    readonly createdAt: number;
    readonly updatedAt: number;
    readonly generations: readonly ImportedGeneration[];
    readonly taint: ImportedTaint;
    readonly lastEvent: string;
    readonly losses: Iterable<string>;
    readonly files?: ReadonlyMap<string, string>;
  },
): LoadedConversation {
  const {
    title,
    createdAt,
    updatedAt,
    generations,
    taint,
    lastEvent,
    losses,
    files = new Map(),
  } = conversation;
  const [sources, speakers] = [[...taint.sources], [...taint.speakers]];
  const { key, agentId, channel, account, peer, kind } = place;
  return {
    session: {
      seed: {
        key,
        agentId,
        channel,
        account,
        peer,
        kind,
        ...(title === undefined || title === "" ? {} : { title: title.slice(0, 80) }),
      },
      createdAt: createdAt || updatedAt,
      updatedAt,
      ...(sources.length + speakers.length === 0
        ? {}
        : { data: { taint: { generation: Math.max(0, generations.length - 1), sources, speakers } } }),
      generations,
    },
    lastEvent,
    losses: [...losses],
    files,
  };
}
