/** The files that a new workspace begins with, by name. */
export type WorkspaceTemplate = Readonly<Record<string, string>>;
