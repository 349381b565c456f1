import { type Home, locateHome } from "@signalbox/home";

/** A command as it is typed for a home: the one that the shell names, or the usual one, needs no word. */
export function commandOn(home: Home, words: string): string {
  const isUsual = home.dir === locateHome(undefined, process.env).dir;
  return `\`signalbox ${words}${isUsual ? "" : ` --home ${shellWord(home.dir)}`}\``;
}

/** As a shell would take it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
