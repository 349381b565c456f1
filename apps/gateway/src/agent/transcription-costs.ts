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
const MICROS_PER_DOLLAR = 1_000_000;

interface Use {
  readonly seconds: number;
  readonly input: number;
  readonly output: number;
}

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
    const { transcriptionPrice } = config().media;
    const prices = getEntryPrices(config(), config().media.transcription);
    const getAmount = ({ input, output, seconds }: Use): Amount => {
      const byTokens = input * prices.input + output * prices.output;
      const micros =
        transcriptionPrice === undefined ? byTokens : (seconds / 60) * transcriptionPrice * MICROS_PER_DOLLAR;
      return { tokens: input + output, micros: Math.ceil(micros) };
    };
    const longest = Math.ceil(recording.bytes.byteLength / BYTES_PER_SECOND);
    const maximum = getAmount({
      seconds: longest,
      input: longest * AUDIO_TOKENS_PER_SECOND,
      output: longest * TEXT_TOKENS_PER_SECOND,
    });
    return calls.pay(spenderOf(message), maximum, async () => {
      const value = await ask();
      const { tokens } = value;
      // A recording cannot be longer than its size allows.
      const seconds = Math.min(value.seconds ?? longest, longest);
      const input = tokens?.input ?? Math.ceil(seconds * AUDIO_TOKENS_PER_SECOND);
      const output = tokens?.output ?? estimateTokens(value.text);
      return { value, amount: getAmount({ seconds, input, output }) };
    });
  };
}
