import type { Documentation } from "@signalbox/prompt";
import { ASSETS } from "../assets.ts";

/** What agents are told to read before they say how the gateway behaves, or how it is set up. */
export const DOCUMENTS: Documentation = {
  dir: ASSETS.docsDir,
  files: ["concepts.md", "configuration.md", "commands.md", "channels.md", "operations.md"],
};
