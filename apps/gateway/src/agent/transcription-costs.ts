import { estimateTokens } from "@signalbox/agent-core";
import type { MessageWithFiles } from "@signalbox/attachments";
import type { Amount, Spender } from "@signalbox/budgets";
import type { Config } from "@signalbox/config";
import type { PayForTranscription } from "../configure/transcription.ts";
import { createPaidCalls, getEntryPrices } from "./paid-calls.ts";
import type { SpendingReports } from "./spending-reports.ts";

/** Minimum number of bytes per second of recorded speech, for any codec. */
const BYTES_PER_SECOND = 750;
/** Tokens per second of audio, as OpenAI counts them, and of the text of fast speech. */
const AUDIO_TOKENS_PER_SECOND = 10;
const TEXT_TOKENS_PER_SECOND = 6;

/**
 * Charges transcriptions to the budgets of their messages. If a budget is exhausted, the recording is mentioned but not
 * transcribed.
 */
export function createTranscriptionCosts(
  config: () => Config,
  spenderOf: (message: MessageWithFiles) => Spender,
  reports: SpendingReports,
): (message: MessageWithFiles) => PayForTranscription {
  const calls = createPaidCalls(config, reports);
  return (message) => (recording, ask) => {
    const prices = getEntryPrices(config(), config().media.transcription);
    const amountOf = (input: number, output: number): Amount => {
      return { tokens: input + output, micros: Math.ceil(input * prices.input + output * prices.output) };
    };
    const seconds = Math.ceil(recording.bytes.byteLength / BYTES_PER_SECOND);
    const sound = seconds * AUDIO_TOKENS_PER_SECOND;
    return calls.pay(spenderOf(message), amountOf(sound, seconds * TEXT_TOKENS_PER_SECOND), async () => {
      const value = await ask();
      const { input = sound, output = estimateTokens(value.text) } = value.tokens ?? {};
      return { value, amount: amountOf(input, output) };
    });
  };
}
