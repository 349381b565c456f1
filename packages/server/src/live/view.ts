import type { ServerFrame } from "@signalbox/protocol";
import type { ScopedService } from "../scope.ts";
import { createCoalescer } from "./coalesce.ts";

/** Maximum number of bytes to buffer for a viewer. A viewer that does not read them is disconnected. */
export const MAX_BUFFERED = 8_000_000;

/** One viewer's subscription to a conversation. */
export interface View {
  /**
   * Sends a `subscribed` frame with the state of the conversation, and then the events since the viewer's cursor or, if
   * the viewer cannot resume, those of the current run.
   */
  start(after?: string): void;
  end(): void;
}

export interface ViewOptions {
  readonly service: ScopedService;
  readonly agent: string;
  /** The id that the viewer uses. */
  readonly conversation: string;
  readonly show: (frame: ServerFrame) => void;
}

export function openView({ service, agent, conversation, show }: ViewOptions): View {
  const sessionKey = service.sessionKey("web", agent, conversation);
  const coalescer = createCoalescer((event, cursor) => show({ ...event, conversation, cursor }));
  const unsubscribe = service.live.subscribe(sessionKey, coalescer.push);
  return {
    start(after) {
      coalescer.flush();
      const { resumed, events, cursor } = service.live.resume(sessionKey, after);
      const lastRun = service.lastRun(sessionKey);
      show({
        type: "subscribed",
        conversation,
        busy: service.busy(sessionKey),
        // The events that follow carry cursors themselves.
        cursor: events.length === 0 ? cursor : undefined,
        resumed: resumed ? true : undefined,
        lastRun,
      });
      for (const { event, cursor: position } of events) show({ ...event, conversation, cursor: position });
    },
    end() {
      unsubscribe();
      coalescer.end();
    },
  };
}
