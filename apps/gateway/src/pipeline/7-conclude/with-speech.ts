import type { GatewayContext } from "../../context.ts";
import { ShutdownAbort } from "../../shutdown.ts";
import type { RunEnded } from "../6-run/run.ts";
import type { ReadyReply } from "./commit.ts";

/**
 * Adds the spoken answer to a reply as its last attachment, if the reader wants one. The text is sent in any case. The
 * commit of the reply contains the attachment, so a crash before it repeats only the synthesis.
 *
 * @returns undefined if the gateway stops
 */
export async function withSpeech(
  ctx: GatewayContext,
  { run, result }: RunEnded,
  reply: ReadyReply | undefined,
): Promise<ReadyReply | undefined> {
  const { agent, messages, asked, handle } = run;
  const answered = messages.at(-1) ?? asked;
  const { event, role } = answered.stored;
  const sendMedia = ctx.getCapabilities(event.channel, event.account)?.sendMedia;
  if (reply === undefined || reply.silent || result.reason === "error" || sendMedia === undefined)
    return reply;
  const attached = reply.attached ?? [];
  // The agent has already sent a recording.
  if (attached.some(({ voice }) => voice === true)) return reply;
  const spoken = await ctx.speech.speak({
    agent,
    message: { event, role },
    text: withoutNote(reply),
    sendMedia,
    signal: handle.signal,
  });
  if (spoken === undefined) return reply;
  if ("part" in spoken) return { ...reply, attached: [...attached, spoken.part] };
  // The next start speaks the answer.
  if (handle.signal.reason instanceof ShutdownAbort) return undefined;
  ctx.tracer.note(answered.id, "conclude", `the answer was not spoken: ${spoken.problem}`);
  return reply;
}

function withoutNote({ text, note }: ReadyReply): string {
  const at = note === undefined ? -1 : text.lastIndexOf(note);
  return at < 0 ? text : text.slice(0, at);
}
