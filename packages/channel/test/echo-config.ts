import { z } from "zod";

export const echoConfig = z.object({ server: z.string(), password: z.string() });
export type EchoConfig = z.infer<typeof echoConfig>;

export interface EchoAddress {
  readonly id: string;
}

export const echoLimits = {
  text: { max: 400, unit: "codepoints" },
  sendMedia: { file: { maxBytes: 100, mimeTypes: ["text/plain"] } },
  /** The address of the only inbound attachment. */
  attachment: "https://echo.example/attachment",
  mediaBytes: 100,
  polls: { options: 3, questionLength: 20, optionLength: 10 },
  editWindowMs: 60_000,
  cards: { buttons: 8, callbackBytes: 100, textMax: 600, forms: true },
} as const;
