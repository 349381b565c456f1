/** Packages as a host sees them from where it is installed. */
export interface HostPackages {
  /** Those of the names that cannot be imported. */
  missing(names: readonly string[]): readonly string[];
  /** The file that one begins with, as a URL. */
  urlOf(name: string): string;
  load(name: string): Promise<Readonly<Record<string, unknown>>>;
}

/** What to do about those that are missing. */
export function installCommand(names: readonly string[]): string {
  return `Add what is missing, where the gateway is installed: npm install ${names.join(" ")}`;
}
