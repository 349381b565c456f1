export const VIEWS = ["form", "text", "history"] as const;
type View = (typeof VIEWS)[number];

export interface ConfigurationSearch {
  view?: View;
  /** Section of the form. */
  section?: string;
}

export function readConfigurationSearch(search: Record<string, unknown>): ConfigurationSearch {
  const view = VIEWS.find((each) => each === search["view"]);
  const section = typeof search["section"] === "string" ? search["section"].slice(0, 40) : undefined;
  return { ...(view && { view }), ...(section !== undefined && { section }) };
}
