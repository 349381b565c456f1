import type { MantineColorScheme, MantineColorSchemeManager } from "@mantine/core";

const COOKIE = /(?:^|; )theme=(light|dark)(?:;|$)/;

/** Stores the chosen color scheme in a cookie for a year, as the language is. Only the page reads it. */
export const colorSchemes: MantineColorSchemeManager = {
  get(defaultScheme): MantineColorScheme {
    const chosen = COOKIE.exec(document.cookie)?.[1];
    return chosen === "light" || chosen === "dark" ? chosen : defaultScheme;
  },
  set: (scheme) => store(scheme, scheme === "auto" ? 0 : 31_536_000),
  subscribe: () => {},
  unsubscribe: () => {},
  clear: () => store("auto", 0),
};

function store(scheme: MantineColorScheme, maxAge: number): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API requires TLS
  document.cookie = `theme=${scheme}; Path=/; Max-Age=${maxAge}; SameSite=Strict`;
}
