import type { GatewayContext } from "../context.ts";
import { SPEECH_MODES } from "../messages/speech-choices.ts";
import type { AskedCommand } from "./command.ts";

/** `/speech` shows which answers to the sender are spoken. `/speech <mode>` sets it, for all conversations. */
export async function answerSpeech(
  { speech }: GatewayContext,
  { message, agent, args, phrases }: AskedCommand,
): Promise<string> {
  const { isConfigured, ownChoice } = speech.getState();
  if (!isConfigured) return phrases.noSpeech;
  const wanted = args.toLowerCase();
  if (wanted !== "") {
    if (!ownChoice) return phrases.speechFixed;
    const mode = SPEECH_MODES.find((one) => one === wanted);
    if (mode === undefined && wanted !== "default") return phrases.noSpeechMode(args, SPEECH_MODES);
    await speech.choose(agent, message.stored, mode);
  }
  const { mode, isOwn } = await speech.getSetting(agent, message.stored);
  return phrases.speech(agent.name, mode, isOwn);
}
