import type { ServerFrame } from "@signalbox/protocol";
import type { ScopedService } from "../scope.ts";
import { createCoalescer } from "./coalesce.ts";

/** Bytes that may wait for a viewer. One that does not read is cut off, so that it cannot fill the gateway's memory. */
export const MAX_BUFFERED = 8_000_000;

/** A conversation, as one viewer is shown it. */
export interface View {
  /**
   * Says how the conversation is, and shows what came after the viewer's cursor, or else all of the run that goes on;
   * from then on, what happens.
   */
  greet(after?: string): void;
  end(): void;
}

export interface ViewOptions {
  readonly service: ScopedService;
  readonly agent: string;
  /** The id under which the viewer knows it. */
  readonly conversation: string;
  readonly show: (frame: ServerFrame) => void;
}

export function openView({ service, agent, conversation, show }: ViewOptions): View {
  const sessionKey = service.sessionKey("web", agent, conversation);
  const coalescer = createCoalescer((event, cursor) => show({ ...event, conversation, cursor }));
  const unsubscribe = service.live.subscribe(sessionKey, coalescer.push);
  return {
    greet(after) {
      coalescer.flush();
      const { resumed, events, cursor } = service.live.resume(sessionKey, after);
      const lastRun = service.lastRun(sessionKey);
      show({
        type: "subscribed",
        conversation,
        busy: service.busy(sessionKey),
        // Where it stands once it has seen what follows is in what follows.
        ...(events.length === 0 ? { cursor } : {}),
        ...(resumed ? { resumed } : {}),
        ...(lastRun === undefined ? {} : { lastRun }),
      });
      for (const { event, cursor: place } of events) show({ ...event, conversation, cursor: place });
    },
    end() {
      unsubscribe();
      coalescer.end();
    },
  };
}
