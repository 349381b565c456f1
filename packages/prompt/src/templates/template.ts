/** The files that a new workspace begins with, by name. */
export type WorkspaceTemplate = Readonly<Record<string, string>>;

/** What templates there are in. */
export type TemplateLanguage = "en" | "zh";
