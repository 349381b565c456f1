import type { ServerFrame } from "@signalbox/protocol";
import type { ScopedService } from "../scope.ts";
import { createCoalescer } from "./coalesce.ts";
import type { LoggedEvent } from "./session-log.ts";

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
  let isOpen = true;
  /** Number of starts that wait for the events of another node. */
  let joining = 0;
  /** Events that arrived during the wait. */
  let arrived: LoggedEvent[] = [];
  const unsubscribe = service.live.subscribe(sessionKey, (event, cursor) => {
    if (joining === 0) coalescer.push(event, cursor);
    else arrived.push({ event, cursor });
  });
  const showFirst = (after: string | undefined): void => {
    const { resumed, events: stored, cursor } = service.live.resume(sessionKey, after);
    // The stored events of a session are those of its current run. A run may have begun and ended during the wait.
    const isWhole = arrived.some(({ event }) => event.type === "run.start") || stored.length === 0;
    const events = isWhole && !resumed ? arrived : stored;
    arrived = [];
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
  };
  return {
    start(after) {
      coalescer.flush();
      const joined = service.live.join(sessionKey);
      if (joined === undefined) {
        showFirst(after);
        return;
      }
      joining += 1;
      void joined.then(() => {
        joining -= 1;
        if (isOpen) showFirst(after);
      });
    },
    end() {
      isOpen = false;
      unsubscribe();
      coalescer.end();
    },
  };
}
