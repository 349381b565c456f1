import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Home } from "../layout.ts";

/**
 * Stores a secret in a file of the home that only its owner can read.
 * @returns the reference to it for the configuration
 */
export function storeSecret(home: Home, name: string, value: string): string {
  const folder = join(home.dir, "secrets");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, name);
  writeFileSync(file, `${value}\n`, { mode: 0o600 });
  chmodSync(file, 0o600);
  return `\${file:secrets/${name}}`;
}
