// `resolve/installed.js` as the bundle has it, which holds the SDKs of the models' vendors. Installed, each takes 13 to
// 35 MB on disk, and its hundreds of files take twice the time to load and twice the memory.
import { packagesFrom } from "@signalbox/setup/packages";

const WITHIN = ["@anthropic-ai/sdk", "@google/genai", "@mistralai/mistralai", "openai"];

export const INSTALLED = packagesFrom(import.meta, WITHIN);
