import { z } from "zod";

export const mediaSchema = z
  .strictObject({
    transcription: z
      .string()
      .regex(/^(none|[^/:\s]+\/\S+)$/, "must be none or provider/model")
      .default("none")
      .describe(
        "The model that transcribes voice and video messages: `none`, or `provider/model` of a provider with OpenAI's transcription API, such as `openai/gpt-4o-mini-transcribe`.",
      ),
  })
  .describe("The processing of attachments.");
