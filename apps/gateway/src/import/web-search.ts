import type { createSecretReader } from "./secrets.ts";
import { mapSecret } from "./secrets.ts";
import type { SettingsReader, SourcePath } from "./settings.ts";

const TO = ["tools", "web", "search"];
const UNIT = "web search";

/** Converts the search service of the tool `web_search`, if it is one of those that exist here. */
export function mapWebSearch(
  reader: SettingsReader,
  at: SourcePath,
  secrets: ReturnType<typeof createSecretReader>,
): void {
  const engine = reader.text(...at, "provider");
  if (engine === "searxng") {
    const from = reader.has(...at, "searxng", "baseUrl") ? [...at, "searxng", "baseUrl"] : [...at, "baseUrl"];
    const url = reader.text(...from);
    if (url === undefined) return;
    reader.map([...at, "provider"], [...TO, "engine"], engine, { unit: UNIT });
    reader.map(from, [...TO, "url"], url, { unit: UNIT });
    return;
  }
  if ((engine !== "brave" && engine !== "tavily") || !reader.has(...at, "apiKey")) return;
  if (reader.get(...at, "apiKey") === "") return;
  reader.map([...at, "provider"], [...TO, "engine"], engine, { unit: UNIT });
  const key = secrets.read(reader.get(...at, "apiKey"), "web-search");
  mapSecret(reader, [...at, "apiKey"], [...TO, "apiKey"], key, UNIT);
}
