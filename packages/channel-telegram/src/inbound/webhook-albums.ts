import type { ChannelContext, HandleResult, Payload } from "@signalbox/channel";
import { limits } from "../limits.ts";
import { getAlbumId } from "./albums.ts";

interface Gathering {
  readonly parts: Payload[];
  readonly handled: Promise<HandleResult>;
}

/**
 * Collects the updates of an album that arrive in separate webhook requests. All of them get a response after the
 * entire album has been handled.
 */
export function collectWebhookAlbums(
  { clock, signal }: Pick<ChannelContext, "clock" | "signal">,
  take: (updates: readonly Payload[]) => Promise<HandleResult>,
): (update: Payload) => Promise<HandleResult> {
  const gathering = new Map<string, Gathering>();

  async function gather(album: string, parts: Payload[]): Promise<HandleResult> {
    try {
      let count = 0;
      for (let round = 0; round < limits.albumRounds && count < parts.length; round += 1) {
        count = parts.length;
        await clock.delay(limits.albumMs, signal);
      }
    } catch {
      return "rejected";
    } finally {
      gathering.delete(album);
    }
    return take(parts);
  }

  return (update) => {
    const album = getAlbumId(update);
    if (album === undefined) return take([update]);
    const open = gathering.get(album);
    if (open !== undefined) {
      open.parts.push(update);
      return open.handled;
    }
    const parts = [update];
    const handled = gather(album, parts);
    gathering.set(album, { parts, handled });
    return handled;
  };
}
