/** A line that readers of event streams pass over (HTML standard, "Server-sent events"). */
export const COMMENT = ":\n\n";
/** How often one is written: a proxy between cuts what is silent for a minute or so. */
export const COMMENT_MS = 15_000;
