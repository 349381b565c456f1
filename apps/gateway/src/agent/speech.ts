import { estimateTokens, reasonOf } from "@signalbox/agent-core";
import { detectAudio } from "@signalbox/attachments";
import type { Amount, Spender } from "@signalbox/budgets";
import type { Capabilities, MediaPart, MessageEvent } from "@signalbox/channel";
import type { Config } from "@signalbox/config";
import type { Role } from "@signalbox/routing";
import type { Agent, SpeechMode } from "../configure/agents.ts";
import { createSynthesizer, SpeechRefusedError } from "../configure/speech.ts";
import type { CoreContext } from "../core-context.ts";
import { createSpeechChoices } from "../messages/speech-choices.ts";
import type { Media } from "./media.ts";
import { createPaidCalls, getEntryPrices } from "./paid-calls.ts";
import { createSpenders } from "./spending.ts";
import type { SpendingReports } from "./spending-reports.ts";
import { toSpokenText } from "./spoken-text.ts";

/** The message that an answer is for. */
interface AnsweredMessage {
  readonly event: MessageEvent;
  readonly role: Role;
}

interface SpeechRequest {
  readonly agent: Agent;
  readonly message: AnsweredMessage;
  /** The answer, as people see it. */
  readonly text: string;
  readonly sendMedia: NonNullable<Capabilities["sendMedia"]>;
  readonly signal: AbortSignal;
}

/** A spoken answer, or the reason why a text is not spoken. */
type SpokenAnswer = { readonly part: MediaPart } | { readonly problem: string };

/** A spoken text. */
interface Recording {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** A person's setting about spoken answers of an agent. */
interface SpeechSetting {
  /** The mode in effect. */
  readonly mode: SpeechMode;
  /** True if the person has chosen it. */
  readonly isOwn: boolean;
}

/** Speaks answers. */
export interface Speech {
  /**
   * Speaks an answer if its reader wants that. The reader pays for it. Never rejects.
   *
   * @returns undefined if the answer is not to be spoken
   */
  speak(request: SpeechRequest): Promise<SpokenAnswer | undefined>;
  /**
   * Speaks an answer that a person wants to hear now, whatever their setting is. The person pays for it.
   *
   * @throws Error if it cannot be spoken
   */
  read(agent: Agent, reader: AnsweredMessage, text: string, signal: AbortSignal): Promise<Recording>;
  getSetting(agent: Agent, message: AnsweredMessage): Promise<SpeechSetting>;
  /** @param mode undefined restores the agent's setting */
  choose(agent: Agent, message: AnsweredMessage, mode: SpeechMode | undefined): Promise<void>;
  /** Returns true if answers can be spoken, and if people may choose. */
  getState(): { readonly isConfigured: boolean; readonly ownChoice: boolean };
}

/** The reason why a request that the service accepted has no result. */
interface SpeechFailure {
  readonly error: unknown;
}

/** Tokens of speech per character of text, at 15 characters and 21 tokens per second. */
const AUDIO_TOKENS_PER_CHARACTER = 1.4;
const MICROS_PER_DOLLAR = 1_000_000;

export function createSpeech(
  core: CoreContext,
  outgoing: Pick<Media["out"], "prepareSpeech">,
  reports: SpendingReports,
): Speech {
  const { config, env, redact, logger, store } = core;
  const settings = () => config.current().settings;
  const choices = createSpeechChoices(store.kv);
  const spenderOf = createSpenders(config);
  const calls = createPaidCalls(settings, reports);
  const getPerson = (agent: Agent, message: AnsweredMessage): string =>
    spenderOf({ agentId: agent.id, ...message }).sender ?? "";

  async function getSetting(agent: Agent, message: AnsweredMessage): Promise<SpeechSetting> {
    const own =
      settings().media.speech?.ownChoice === true
        ? await choices.get(agent.id, getPerson(agent, message))
        : undefined;
    return { mode: own ?? agent.speech, isOwn: own !== undefined };
  }

  async function isWanted({ agent, message }: SpeechRequest): Promise<boolean> {
    // As with transcripts, strangers must not be able to cause costs.
    if (settings().media.speech === undefined || message.role === "guest") return false;
    const { mode } = await getSetting(agent, message);
    return mode === "always" || (mode === "voice" && isSpoken(message.event));
  }

  /** Pays for and requests the speech. A response that broke off is paid for, because vendors charge for it. */
  async function synthesize(text: string, payer: Spender, signal: AbortSignal): Promise<Uint8Array> {
    const call = createSynthesizer(settings(), env);
    if (call === undefined) throw new Error("the configured service cannot be used");
    const amount = getAmount(settings(), text);
    const outcome = await calls.pay<Uint8Array | SpeechFailure>(payer, amount, async () => {
      try {
        return { value: await call(text, signal), amount };
      } catch (error) {
        if (error instanceof SpeechRefusedError) throw error;
        return { value: { error }, amount };
      }
    });
    if ("error" in outcome) throw outcome.error;
    return outcome;
  }

  /** Returns the text to read aloud, which may be empty. */
  function getSpokenText(text: string): string {
    return toSpokenText(redact(text), settings().media.speech?.maxCharacters ?? 0);
  }

  return {
    async speak(request) {
      const { agent, message, sendMedia, signal } = request;
      try {
        if (!(await isWanted(request))) return undefined;
        const text = getSpokenText(request.text);
        if (text === "") return undefined;
        const payer = spenderOf({ agentId: agent.id, ...message });
        const bytes = await synthesize(text, payer, signal);
        return { part: await outgoing.prepareSpeech(bytes, sendMedia) };
      } catch (error) {
        const problem = reasonOf(error);
        logger.warn({ agent: agent.id, err: problem }, "an answer could not be spoken");
        return { problem };
      }
    },
    async read(agent, reader, text, signal) {
      const words = getSpokenText(text);
      if (words === "") throw new Error("it contains nothing to read aloud");
      const bytes = await synthesize(words, spenderOf({ agentId: agent.id, ...reader }), signal);
      const type = await detectAudio(bytes);
      if (type === undefined) throw new Error("the service returned something else than audio");
      return { mimeType: type.mimeType, bytes };
    },
    getSetting,
    choose: (agent, message, mode) => choices.set(agent.id, getPerson(agent, message), mode),
    getState() {
      const { speech } = settings().media;
      return { isConfigured: speech !== undefined, ownChoice: speech?.ownChoice === true };
    },
  };
}

/** Returns true if a person spoke the message. */
function isSpoken({ media }: MessageEvent): boolean {
  return media.some(({ kind }) => kind === "audio");
}

function getAmount(settings: Config, text: string): Amount {
  const { price, model = "" } = settings.media.speech ?? {};
  const prices = getEntryPrices(settings, model);
  const input = estimateTokens(text);
  const output = Math.ceil(text.length * AUDIO_TOKENS_PER_CHARACTER);
  const byTokens = input * prices.input + output * prices.output;
  const micros = price === undefined ? byTokens : (text.length / 1_000) * price * MICROS_PER_DOLLAR;
  return { tokens: input + output, micros: Math.ceil(micros) };
}
