import {
  type ChannelContext,
  createGapDetector,
  type EmitResult,
  type Gap,
  retryUntilDone,
} from "../src/index.ts";
import { type EchoDefinition, echo } from "./echo.ts";
import type { EchoConfig } from "./echo-config.ts";

/** Faults of the intake. */
export interface IntakeFaults {
  readonly forgetsRejected: boolean;
  readonly reportsNoGap: boolean;
  readonly reportsGapAlways: boolean;
}

/** The echo channel on a platform that forgets what it has handed over, optionally with faults. */
export function handedOver(wrong: Partial<IntakeFaults> = {}): EchoDefinition {
  return {
    ...echo,
    capabilities: { ...echo.capabilities, intake: "handed_over" },
    async create(context) {
      const stopped = new AbortController();
      const { forgetsRejected = false, reportsNoGap = false, reportsGapAlways = false } = wrong;
      const emit = forgetsRejected ? emitOnce(context) : emitUntilAccepted(context, stopped.signal);
      const channel = await echo.create({ ...context, emit });
      const gaps = createGapDetector(context, "bot");
      return {
        ...channel,
        async start(signal) {
          const report = async (gap: Gap): Promise<EmitResult> =>
            reportsNoGap
              ? "accepted"
              : context.emit({
                  type: "lifecycle",
                  what: "gap",
                  detail: { ...gap },
                  eventId: `gap ${gap.from}`,
                  channel: "echo",
                  account: context.account,
                  conversation: { id: "bot", kind: "direct" },
                  address: "echo:bot",
                  sender: { id: "bot", isBot: true, isSelf: true },
                  addressed: "dm",
                  timestamp: gap.to,
                });
          await gaps.begin(report);
          if (reportsGapAlways) await report({ from: Date.now(), to: Date.now() });
          await channel.start(signal);
        },
        async stop(options) {
          stopped.abort();
          await channel.stop(options);
          await gaps.end();
        },
      };
    },
  };
}

type Emit = ChannelContext["emit"];

/** Acknowledges at once, as a platform without acknowledgements, and keeps the event until it is accepted. */
function emitUntilAccepted({ emit, clock }: ChannelContext<EchoConfig>, signal: AbortSignal): Emit {
  return async (event) => {
    let result: EmitResult = "rejected";
    const immediate = { ...clock, delay: async () => {} };
    await retryUntilDone(
      async () => {
        result = await emit(event);
        if (result === "rejected") throw new Error("rejected");
      },
      { clock: immediate, signal, failing: "an event could not be stored" },
    );
    return result;
  };
}

function emitOnce({ emit }: ChannelContext<EchoConfig>): Emit {
  return (event) => emit(event).catch((): EmitResult => "rejected");
}
