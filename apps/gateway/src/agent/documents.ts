import type { Documentation } from "@signalbox/prompt";
import { ASSETS } from "../assets.ts";

/** Documentation that agents should read before they explain the gateway or its setup. */
export const DOCUMENTS: Documentation = {
  dir: ASSETS.docsDir,
  files: ["concepts.md", "configuration.md", "commands.md", "channels.md", "operations.md"],
};
