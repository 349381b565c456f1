import { z } from "zod";

const modelReference = z.string().regex(/^[^/:\s]+\/\S+$/, "must be provider/model");
const dollars = z.number().nonnegative().max(1_000).optional();

const speechSchema = z
  .strictObject({
    model: modelReference.describe(
      "`provider/model` of a provider with OpenAI's speech API or of ElevenLabs, such as `openai/gpt-4o-mini-tts`.",
    ),
    voice: z
      .string()
      .min(1)
      .max(200)
      .describe("The voice, as the provider names it: `alloy`, or the id of a voice at ElevenLabs."),
    format: z
      .enum(["opus", "mp3", "aac", "flac", "wav"])
      .default("opus")
      .describe(
        "The format to request. Most platforms show only `opus` as a voice message. Some local servers offer only others.",
      ),
    instructions: z
      .string()
      .min(1)
      .max(4_096)
      .optional()
      .describe("Tone and manner of speaking, for models that accept it."),
    maxCharacters: z
      .int()
      .min(50)
      .max(4_096)
      .default(1_500)
      .describe("Maximum length of the spoken text. A longer answer ends at the last sentence that fits."),
    timeoutMs: z
      .int()
      .positive()
      .max(120_000)
      .default(30_000)
      .describe("Timeout for each answer, in milliseconds. After it, the answer is sent as text only."),
    price: dollars.describe(
      "Price of a thousand characters in US dollars, for budgets. Default: by estimated tokens and the prices of the model's entry.",
    ),
    ownChoice: z
      .boolean()
      .default(true)
      .describe("Whether owners and members may choose with `/speech` when answers to them are spoken."),
  })
  .describe("The model that speaks answers. Without it, answers are not spoken.");

export const mediaSchema = z
  .strictObject({
    transcription: z
      .string()
      .regex(/^(none|[^/:\s]+\/\S+)$/, "must be none or provider/model")
      .default("none")
      .describe(
        "The model that transcribes voice and video messages: `none`, or `provider/model` of a provider with OpenAI's transcription API, such as `openai/gpt-4o-mini-transcribe`, or with the `api` `whisper-cpp`, `deepgram` or `elevenlabs`.",
      ),
    transcriptionPrice: dollars.describe(
      "Price of a minute of a recording in US dollars, for budgets. Default: by tokens and the prices of the model's entry.",
    ),
    speech: speechSchema.optional(),
  })
  .describe("The processing of attachments, and voice.");
