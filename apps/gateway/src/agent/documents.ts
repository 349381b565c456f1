import type { Documentation } from "@signalbox/prompt";
import { ASSETS } from "../assets.ts";

/** What agents are told to read before they explain the gateway's behaviour or setup. */
export const DOCUMENTS: Documentation = {
  dir: ASSETS.docsDir,
  files: ["concepts.md", "configuration.md", "commands.md", "channels.md", "operations.md"],
};
