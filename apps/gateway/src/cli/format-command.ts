import { type Home, locateHome } from "@signalbox/home";

/** Returns a command as the user would type it for a home. `--home` is added unless the home is the default one. */
export function formatCommand(home: Home, words: string): string {
  const isUsual = home.dir === locateHome(undefined, process.env).dir;
  return `\`signalbox ${words}${isUsual ? "" : ` --home ${shellWord(home.dir)}`}\``;
}

/** Quotes a word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
