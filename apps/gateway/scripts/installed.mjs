// Replaces `configure/installed.js` in the bundle, which contains these SDKs.
import { packagesFrom } from "../src/configure/host-packages.ts";

const BUNDLED = ["@anthropic-ai/sdk", "@google/genai", "@mistralai/mistralai", "openai"];

export const INSTALLED = packagesFrom(import.meta, BUNDLED);
